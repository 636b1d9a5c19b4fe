"""Sessions and editors that are used for a long time cost as much at the end as at the beginning."""
