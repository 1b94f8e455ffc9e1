"""DataFrames and trees in, figures out: matplotlib `Figure`s, and `Svg` for parse trees and search trees."""
