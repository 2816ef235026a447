"""Tests of fairyforge-cluster."""
