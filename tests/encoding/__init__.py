"""Tests of the encoder."""
