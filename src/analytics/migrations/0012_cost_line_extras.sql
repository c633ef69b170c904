-- Of a line of the cost: the tool that a provider ran, and the tier whose price it is; empty where there is none.
ALTER TABLE requests
    ADD COLUMN IF NOT EXISTS `cost_lines.tool` Array(LowCardinality(String)) AFTER `cost_lines.micro_usd`,
    ADD COLUMN IF NOT EXISTS `cost_lines.tier` Array(LowCardinality(String)) AFTER `cost_lines.tool`;
