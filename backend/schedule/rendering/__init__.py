"""Pictures of plans and schedules: Gantt charts as SVG, text and traces, and self-contained HTML pages."""
