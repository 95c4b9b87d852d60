"""A folder of documents as passages: ``formats`` reads the files, ``folder`` cuts the text."""

from franq_guard.datasets.documents.folder import read_folder
from franq_guard.datasets.documents.formats import SUFFIXES

__all__ = ["SUFFIXES", "read_folder"]
