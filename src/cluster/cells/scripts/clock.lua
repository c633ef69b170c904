-- Says whether a cell may go by Redis's clock, where that is not what the cell expects, or where its process has just begun. One clock
-- that was set must not decide about money, and nothing is known of a clock but what the others say:
--
-- - Another cell has gone by Redis's clock just now: this cell's is the wrong one.
-- - The clock of the cell's machine says the same as Redis's, or was set by as much, and no cell says otherwise: all machines slept,
--   or all clocks were set, or Redis's was put right. Cells have half a second to contradict; those that gave a sign of life just now, and
--   have not claimed the same, two seconds: their links may be slow.
-- - The same of a cell whose machine's clock was off Redis's before, and agrees with it now: which of the two was wrong is not known, so each
--   cell has two seconds to contradict. It happens where Redis's clock was wrong for long, or is the last one that is put right.
-- - Otherwise Redis's clock is doubted, and the cell waits until one of them is put right.
--
-- Steady time is Redis's time less `shift`: it goes on evenly where all clocks are set. `spans` says by how much clocks were ahead of it, and
-- since when: so it is known what the time of something was by the clock of now (`exchange/15-clock.lua`).
--
-- {…}:clock   hash: spans    flat list (MessagePack): steady time at which it began, shift
--                   d:<cell> Redis's time when the cell last doubted it
--                   claim    "Redis's time, shift": since when cells say that all clocks were set, and what the shift becomes, "-" if unknown
-- {…}:claimants  set: cells that made the claim, too
--
-- KEYS[1] the dataset's key
-- ARGV    id, cell, least and most that it expects of steady time, its steady time, the time by the course of its machine's clock since it last
--         heard of Redis (all "" where its process has just begun), the time of its machine's clock, and 1 where that was off Redis's
--         before, else ""
-- Returns 1 where it may go by Redis's clock, else 0; that clock's time, shift, how often all clocks were set so far, and a cell that
-- doubts Redis's clock or "".
local prefix = string.match(KEYS[1], "^({[^}]*}:)")
local known = redis.call("HMGET", KEYS[1], "id", "shift", "clock_changes", "steady")
if known[1] ~= ARGV[1] then return redis.error_reply("WEIRFOREIGN this Redis holds another installation") end
local clock = prefix .. "clock"
local cell = ARGV[2]
local shift, changes = tonumber(known[2] or 0), tonumber(known[3] or 0)

-- Clocks of one machine, read one after the other; as SPREAD_MS of src/cluster/cells/clock/shared-clock.ts.
local SPREAD_MS = 2000
-- Clocks of two machines that are both kept right.
local MACHINES_MS = 60000
-- A cell that said nothing for so long is not asked.
local HEARD_MS = 2000
-- Cells give a sign of life four times a second.
local CONTRADICT_MS = 500
-- A claim that was not repeated for so long is over.
local CLAIM_MS = 5000
-- Clocks that are put right meet their earlier course within this, or within such a part of the way: that course may have been wrong, too.
local RETURN_MS, RETURN_PART = 5000, 20
local MOST_SPANS = 80
-- Nothing is asked for the time of what is older.
local SPAN_KEPT_MS = 40 * 86400000

local function decimal(number) return string.format("%.0f", number) end

local time = redis.call("TIME")
local wall = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local is_new = ARGV[3] == ""
local was_off = ARGV[8] == "1"

local function answer(outcome, doubter) return { outcome, decimal(wall), decimal(shift), decimal(changes), doubter or "" } end

local function end_claim()
  redis.call("HDEL", clock, "claim")
  redis.call("DEL", prefix .. "claimants")
end

-- The cell goes by Redis's clock: it neither doubts it nor claims anything.
local function agreed()
  redis.call("HDEL", clock, "d:" .. cell)
  end_claim()
  return answer(1)
end

local function is_within(text, spread) return text ~= "" and math.abs(wall - tonumber(text)) <= spread end

if not is_new and wall - shift >= tonumber(ARGV[3]) and wall - shift <= tonumber(ARGV[4]) then return agreed() end

-- Another cell has gone by Redis's clock just now.
local vouched = redis.call("HGETALL", prefix .. "vouched")
for i = 1, #vouched, 2 do
  local age = wall - shift - tonumber(vouched[i + 1])
  if vouched[i] ~= cell and age >= 0 and age < HEARD_MS then return agreed() end
end
-- The newest steady time of a beat, and those of other cells' latest ones.
local newest, beats, has_others = tonumber(known[4] or 0), {}, false
local applied = redis.call("HGETALL", prefix .. "applied")
for i = 1, #applied, 2 do
  if applied[i] ~= cell then
    beats[#beats + 1] = { applied[i], tonumber(string.match(applied[i + 1], "%d+$")) }
    has_others = true
  end
end

local is_on_course = is_within(ARGV[6], SPREAD_MS)
if not is_on_course and not is_within(ARGV[7], MACHINES_MS) then
  -- Without a right clock of its machine a cell cannot tell a clock that is wrong from one that was put right. A process that has just
  -- begun has nothing else to go by.
  if was_off or (is_new and has_others) then return answer(0) end
  redis.call("HSET", clock, "d:" .. cell, decimal(wall))
  end_claim()
  -- A clock that reaches the time of former words once more is not the one that was right then.
  redis.call("DEL", prefix .. "vouched")
  return answer(0, cell)
end
redis.call("HDEL", clock, "d:" .. cell)
local fields = redis.call("HGETALL", clock)
local claim, spans
for i = 1, #fields, 2 do
  if string.sub(fields[i], 1, 2) == "d:" then
    local age = wall - tonumber(fields[i + 1])
    if age >= 0 and age < HEARD_MS then return answer(0, string.sub(fields[i], 3)) end
  elseif fields[i] == "claim" then
    claim = fields[i + 1]
  else
    spans = cmsgpack.unpack(fields[i + 1])
  end
end

-- What the shift becomes. A process that has just begun does not know how long nobody ran: time has passed, unless that is not possible.
local becomes = "-"
if not is_new then
  becomes = decimal(wall - tonumber(ARGV[5]))
elseif wall - shift < newest - SPREAD_MS then
  becomes = decimal(wall - newest)
end
local since, claimed = string.match(claim or "", "^(%d+) ([^ ]+)$")
if not since or wall - tonumber(since) < 0 or wall - tonumber(since) > CLAIM_MS then
  end_claim()
  since, claimed = decimal(wall), "-"
end
if claimed == "-" then claimed = becomes end
local claimed_for = wall - tonumber(since)
redis.call("SADD", prefix .. "claimants", cell)

-- Whether another cell may still contradict, which gave a sign of life just now.
local function is_another_awaited()
  -- Steady time if the claim holds. A process that has just begun does not know how long none ran: as if it were no time.
  local now = claimed == "-" and newest + claimed_for or wall - tonumber(claimed)
  for _, beat in ipairs(beats) do
    local has_said = redis.call("SISMEMBER", prefix .. "claimants", beat[1]) == 1
    if now - beat[2] < HEARD_MS and not has_said then return true end
  end
  return false
end

-- Without others a process that has just begun has none to wait for; one that runs waits, because this question may have come late.
local is_early = (has_others or not is_new) and claimed_for < CONTRADICT_MS
local is_unsure = was_off and not is_on_course
if is_early or (claimed_for < HEARD_MS and (is_unsure or is_another_awaited())) then
  redis.call("HSET", clock, "claim", since .. " " .. claimed)
  return answer(0)
end
end_claim()
if claimed == "-" then return answer(1) end

local steady = wall - tonumber(claimed)
shift, changes = tonumber(claimed), changes + 1
spans = spans or { 0, tonumber(known[2] or 0) }
-- Clocks that come near to an earlier course again were wrong in between. What was charged before keeps its time to the millisecond: a day's
-- charges are counted by the last of them, which a second may carry over midnight.
local current, kept = spans[#spans], nil
for i = 2, #spans - 2, 2 do
  local off_ms, way_ms = math.abs(spans[i] - shift), math.abs(spans[i] - current)
  if off_ms <= math.max(RETURN_MS, way_ms / RETURN_PART) and off_ms < way_ms then kept = i end
end
while kept and #spans > kept do table.remove(spans) end
if spans[#spans] ~= shift then
  spans[#spans + 1] = steady
  spans[#spans + 1] = shift
end
while #spans > 2 * MOST_SPANS or (#spans > 2 and spans[3] < steady - SPAN_KEPT_MS) do
  table.remove(spans, 1)
  table.remove(spans, 1)
end
redis.call("HSET", clock, "spans", cmsgpack.pack(spans))
redis.call("HSET", KEYS[1], "shift", decimal(shift), "clock_changes", decimal(changes))
return answer(1)
