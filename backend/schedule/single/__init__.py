"""Programs on one device: the order of the graph, values freed after their last use, the peak as a number or as a formula."""
