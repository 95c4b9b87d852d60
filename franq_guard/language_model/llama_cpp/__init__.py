"""GGUF files through llama.cpp in this process."""
