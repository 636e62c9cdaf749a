"""Requests and answers as they go over the wire: one file for each family of endpoints."""
