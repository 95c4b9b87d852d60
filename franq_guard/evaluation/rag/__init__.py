"""The benchmark on RAG questions with gold answers: data, grading, generation, tables."""
