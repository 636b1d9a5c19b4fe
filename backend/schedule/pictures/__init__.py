"""Pictures of schedules: one neutral `chart` from a plan or an abstract answer, drawn as Gantt chart, graph, page or trace."""
