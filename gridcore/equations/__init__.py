"""equations"""
