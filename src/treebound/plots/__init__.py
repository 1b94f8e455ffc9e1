"""Drawings of parse trees, search trees and derivations as `Svg`; figures of matplotlib need the extra `plots`."""
