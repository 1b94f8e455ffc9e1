"""Integer programs: `ilp` scores parts; `incremental` and `stated` add constraints that a solution breaks."""
