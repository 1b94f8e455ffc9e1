"""General utilities that do not depend on parsing: atomic files, parallel work, progress reports, settings, YAML."""
