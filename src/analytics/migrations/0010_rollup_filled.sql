-- What the summing of 0008 has left.
DROP VIEW IF EXISTS usage_tags_daily_first_view;

DROP TABLE IF EXISTS usage_tags_daily_first;

DROP TABLE IF EXISTS usage_tags_daily_filled;
