"""integrate/theta"""
