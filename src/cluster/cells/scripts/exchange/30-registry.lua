-- Which cells there are, how far each has followed the stream, and what a new term asks of them.
--
-- {…}:lives      hash: cell -> number of its newest life, one more at each start
-- {…}:retired    hash: cell -> newest life that is over for ever
-- {…}:applied    hash: cell -> "version milliseconds": how far it followed the stream, and when it said so, by steady time
-- {…}:vouched    hash: cell -> when it last went by Redis's clock, by steady time; emptied where a cell doubts that clock (`clock.lua`)
-- {…}:restating  set: cells that have not said what they know since the term began
-- {…}:inserted   hash: cell -> milliseconds: until when its records are in ClickHouse; none where it left with all of them there
-- {…}:left       hash: cell -> the life of it that stopped, alone where it left nothing that others must know
-- {…}:left_at    hash: cell -> when it stopped in good order, by steady time; means nothing once it runs again
-- {…}:formats    hash: cell -> newest format that it reads, of cells that neither left nor were retired

-- A cell that said nothing for this long is not waited for.
local SILENT_MS = 2000

-- Whether there may be leases that the dataset does not know: of cells that have not said yet what they know, or, for a while after a
-- replica was promoted, of cells that it has not heard of.
local function is_awaiting()
  return redis.call("EXISTS", key("restating")) == 1 or (unsure_until > 0 and now_ms() < unsure_until)
end

-- The format in which cells write: the newest that each of them reads. It never falls. In a new term it waits for those who have
-- not said yet what they know: the term before may have known of more cells.
local function format_now()
  local format = tonumber(redis.call("HGET", DATASET, "format") or 1)
  local mine = tonumber(redis.call("HGET", key("formats"), CELL) or 1)
  if mine <= format or redis.call("SCARD", key("restating")) > 0 then return format end
  local common = mine
  for _, newest in ipairs(redis.call("HVALS", key("formats"))) do common = math.min(common, tonumber(newest)) end
  if common <= format then return format end
  redis.call("HSET", DATASET, "format", decimal(common))
  return common
end

-- { "beat", version, inserted }: the cell has applied the stream up to `version`; until when its records are in ClickHouse, 0 if it
-- does not know.
-- Returns Redis's time, the version now, the least version that a cell with a sign of life has applied, how many
-- cells have not restated in this term, the format in which cells write now, how many cells have a sign of life, by how much all
-- clocks were set ahead since the dataset began, and how often they were set.
operations.beat = function(operation)
  local now = now_ms()
  redis.call("HSET", key("applied"), CELL, decimal(operation[2]) .. " " .. decimal(now))
  redis.call("HSET", key("vouched"), CELL, decimal(now))
  redis.call("HSET", DATASET, "steady", decimal(now))
  if (operation[3] or 0) > 0 then redis.call("HSET", key("inserted"), CELL, decimal(operation[3])) end
  local least = operation[2]
  local alive = 0
  local all = redis.call("HGETALL", key("applied"))
  for i = 1, #all, 2 do
    local version, at = string.match(all[i + 1], "^(%d+) (%d+)$")
    if now - tonumber(at) < SILENT_MS then
      least = math.min(least, tonumber(version))
      alive = alive + 1
    end
  end
  local restating = redis.call("SCARD", key("restating"))
  return { now + shift, version_now(), least, restating, format_now(), alive, shift, clock_changes }
end

-- { "restate", version, origin }: the position of the cell's rows, told once in each term and after each start.
-- Returns 1 if the dataset has the same past, 0 if the cell must load everything anew; the cell's last run that was
-- committed, "life:number" or ""; and the version now.
operations.restate = function(operation)
  local is_same = is_past(operation[2], operation[3])
  return { is_same and 1 or 0, redis.call("HGET", key("runs"), CELL) or "", version_now() }
end

-- Whether a part of the cell has said in this exchange that more was confirmed than the dataset has.
local lacks_confirmed = false

-- { "restated" }: all parts of the cell have said what they know. Where the dataset lacks some of it, the cell has not restated: no lease
-- grows until the newer data are back, or the cell is retired.
operations.restated = function()
  if lacks_confirmed then return {} end
  redis.call("SREM", key("restating"), CELL)
  return {}
end

-- { "leave", is_settled, is_inserted }: the cell stops in good order: no act waits for it. `is_inserted`: all its records are in
-- ClickHouse. Where it is settled, and nothing is leased or claimed for
-- it here, no later term waits for it either, until it starts again. Returns 1 for that.
operations.leave = function(operation)
  redis.call("HDEL", key("applied"), CELL)
  redis.call("HDEL", key("formats"), CELL)
  redis.call("HDEL", key("vouched"), CELL)
  if operation[3] == 1 then redis.call("HDEL", key("inserted"), CELL) end
  redis.call("HSET", key("left_at"), CELL, decimal(now_ms()))
  local has_parts =
    redis.call("EXISTS", key("leases:" .. CELL), key("budget_leases:" .. CELL), key("claims:" .. CELL)) > 0
  local is_settled = operation[2] == 1 and not has_parts
  redis.call("HSET", key("left"), CELL, is_settled and LIFE or LIFE .. " unsettled")
  if not is_settled then return { 0 } end
  redis.call("SREM", key("restating"), CELL)
  return { 1 }
end
