-- Reads a page of the dataset for a cell that loads all rows. A cell removes what the dataset does not have: so each page
-- says first that it is still the dataset, and the term, that the cell began with. Writes nothing.
-- KEYS[1] the dataset's key; ARGV: id, term, and one of
--   "position", cell             version, origin, and the cell's last run that was committed, or ""
--   "tables", cursor             the next cursor, and keys of tables
--   "rows", table, cursor, count the next cursor, and a flat list of keys and rows
--   "have", table, keys…         for each key 1 if there is such a row, else 0
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
local known = redis.call("HMGET", KEYS[1], "id", "term", "filling", "version", "origin")
if not known[1] or known[3] then return redis.error_reply("WEIREMPTY this Redis holds no installation") end
if known[1] ~= ARGV[1] then return redis.error_reply("WEIRFOREIGN this Redis holds another installation") end
if known[2] ~= ARGV[2] then return redis.error_reply("WEIRTERM Redis was restarted or replaced") end
local what = ARGV[3]
if what == "position" then
  return { known[4], known[5], redis.call("HGET", prefix .. "runs", ARGV[4]) or "" }
end
if what == "tables" then
  return redis.call("SCAN", ARGV[4], "MATCH", prefix .. "rows:*", "COUNT", 1000)
end
local rows = prefix .. "rows:" .. ARGV[4]
if what == "rows" then return redis.call("HSCAN", rows, ARGV[5], "COUNT", ARGV[6]) end
local have = {}
for i = 5, #ARGV do
  -- More than the version, which alone is a tombstone.
  have[i - 4] = redis.call("HSTRLEN", rows, ARGV[i]) > 8 and 1 or 0
end
return have
