"""Faces for frameworks: what their pipelines are made of, one framework a file.

A face takes the framework's values, assembles, and gives its values back, one a block, each with
where it is from. Importing one imports its framework.
"""
