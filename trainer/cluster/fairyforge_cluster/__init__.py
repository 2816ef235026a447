"""Fairyforge's games played by many machines.

This package cuts the games of a run into parts, has workers of Dask distributed play them with the program `fairyforge`, and brings what they leave into the
run's folder. It knows no rules of games and schedules nothing itself: the program says which games are wanted, and Dask who plays them. The way through the
code: `cli`, `driver`, `pool`, `worker`. docs/using-a-cluster.md tells how it is used.
"""
