"""Stores the results of expensive steps on disk, so that an interrupted run can continue."""
