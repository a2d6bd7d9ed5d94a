def write_page(state, path):
    pass
