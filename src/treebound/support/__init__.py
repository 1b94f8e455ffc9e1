"""What any program needs: files written whole, processes side by side, progress, YAML. Nothing here parses."""
