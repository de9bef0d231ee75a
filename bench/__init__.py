"""Measurements as ratios: CodePlane and its floor or peer, in one run on one machine."""
