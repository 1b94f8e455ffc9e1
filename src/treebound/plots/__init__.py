"""Parse trees, search trees and derivations as `Svg`; figures of matplotlib with the extra `plots`."""
