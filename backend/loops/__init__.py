"""Loop programs: what regions of the phase graph become before they are machine code."""
