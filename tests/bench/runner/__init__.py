"""The runner of ci/bench."""
