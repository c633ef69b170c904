-- Begins a dataset in an empty Redis. Nobody but who fills it can use it until `open.lua` has run.
-- KEYS[1] the dataset's key; ARGV: id, name of who fills it, which no cell has, format of the rows.
-- Returns 1, or 0 where there is one already.
if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
redis.call("HSET", KEYS[1], "id", ARGV[1], "version", "0", "tombs_from", "0", "filling", ARGV[2], "format", ARGV[3])
return 1
