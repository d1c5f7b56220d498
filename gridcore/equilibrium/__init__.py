"""equilibrium"""
