"""How the kitchen looks: everything here turns a description into a picture and makes no decisions."""
