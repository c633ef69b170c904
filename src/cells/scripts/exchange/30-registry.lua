-- Which cells there are, how far each has followed the stream, and what a new term asks of them.
--
-- {…}:lives      hash: cell -> number of its newest life, one more at each start
-- {…}:retired    hash: cell -> newest life that is over for ever
-- {…}:applied    hash: cell -> "version milliseconds": how far it followed the stream, and when it said so
-- {…}:restating  set: cells that have not said what they know since the term began

-- A cell that said nothing for this long is not waited for.
local SILENT_MS = 2000

-- { "beat", version }: the cell has applied the stream up to `version`.
-- Returns Redis's time, the version now, the least version that a cell with a sign of life has applied, and how many
-- cells have not restated in this term.
operations.beat = function(operation)
  local now = now_ms()
  redis.call("HSET", key("applied"), CELL, decimal(operation[2]) .. " " .. decimal(now))
  local least = operation[2]
  local all = redis.call("HGETALL", key("applied"))
  for i = 1, #all, 2 do
    local version, at = string.match(all[i + 1], "^(%d+) (%d+)$")
    if now - tonumber(at) < SILENT_MS then least = math.min(least, tonumber(version)) end
  end
  return { now, version_now(), least, redis.call("SCARD", key("restating")) }
end

-- { "restate", version, origin }: what the cell last applied, told once in each term and after each start.
-- Returns 1 if the dataset has the same past, 0 if the cell must load everything anew; the cell's last run that was
-- committed, "life:number" or ""; and the version now.
operations.restate = function(operation)
  redis.call("SREM", key("restating"), CELL)
  local is_same = is_past(operation[2], operation[3])
  return { is_same and 1 or 0, redis.call("HGET", key("runs"), CELL) or "", version_now() }
end

-- { "leave" }: the cell stops in good order: nobody waits for it.
operations.leave = function()
  redis.call("HDEL", key("applied"), CELL)
  return {}
end
