-- Documents: rows of the replicated tables, their versions, and the stream by which all cells hear of changes.
--
-- {…}:rows:<table>    hash: key as JSON -> version (8 bytes, big-endian), "+", and the row's bytes, of which there may be
--                     none; the version alone is a tombstone, which tells an act that read the row that it was removed
-- {…}:ranges:<table>  hash: first part of keys as JSON, or "" for the whole table -> version of the latest change
-- {…}:tombs           sorted set: table, NUL, key -> version of the removal; the oldest are dropped
-- {…}:stream          one entry an act, its id is "<version>-0": versions have no gaps. Each names its origin, which is
--                     "cell:life:number of the run", and the origin of the version before it: after a failover that
--                     lost writes the same versions come again with other origins; and the format of its rows
-- {…}:marks           list: one version for each MARK_BYTES that were added to the stream: the version that completed them. The
--                     dataset's field `unmarked` counts the bytes that were added since the latest mark
-- {…}:runs            hash: cell -> "life:number" of its last run that was committed
-- {…}:ticket          "cell:life milliseconds": who may commit alone for a moment, because its acts were refused too often, and since when

local MOST_TOMBS = 100000
local STREAM_ENTRIES = 100000
-- The stream keeps so many marks, 256 MiB. A cell that lacks an entry that was dropped loads all rows anew.
local MARK_BYTES = 1048576
local MOST_MARKS = 256
local FORGET_TOMBS = 2000
local TICKET_MS = 500
-- Lua passes a few thousand arguments to a command: the rows of a larger act are packed into one.
local MOST_FIELDS = 4000

-- Versions above this were given out by this exchange: its acts ran one on top of the other.
local began_at
-- Of ranges that this exchange has changed: version of the latest change before it. Its own changes must not hide one of another cell.
local ranges_before

local function version_now() return tonumber(redis.call("HGET", DATASET, "version")) end

local function version_of(row)
  if not row then return 0 end
  return (struct.unpack(">I8", row))
end

-- Whether the dataset had this version with this origin. False also where the stream no longer reaches back so far.
local function is_past(version, origin)
  local now = redis.call("HMGET", DATASET, "version", "origin")
  if version >= tonumber(now[1]) then return version == tonumber(now[1]) and origin == now[2] end
  local id = decimal(version + 1) .. "-0"
  local entry = redis.call("XRANGE", key("stream"), id, id)[1]
  return entry ~= nil and entry[2][4] == origin
end

-- Of the file of credit: why what acts post cannot be posted now, or nothing; and posts it.
local refusal_of_postings, make_postings

local function is_unchanged(version, base) return version <= base or version > began_at end

-- Whether an act that ran on the rows of version `base` would read the same today. `reads` and `ranges` are flat lists
-- of table and key, and of table and first part.
local function is_current(base, reads, ranges)
  if base < tonumber(redis.call("HGET", DATASET, "tombs_from") or 0) then return false end
  for i = 1, #reads, 2 do
    local row = redis.call("HGET", key("rows:" .. reads[i]), reads[i + 1])
    if not is_unchanged(version_of(row), base) then return false end
  end
  for i = 1, #ranges, 2 do
    local version = ranges_before[ranges[i] .. "\0" .. ranges[i + 1]]
      or redis.call("HGET", key("ranges:" .. ranges[i]), ranges[i + 1])
    if tonumber(version or 0) > base then return false end
  end
  return true
end

local function change_range(name, part, version)
  local id = name .. "\0" .. part
  local ranges = key("ranges:" .. name)
  ranges_before[id] = ranges_before[id] or redis.call("HGET", ranges, part) or "0"
  redis.call("HSET", ranges, part, version)
end

-- Drops the oldest tombstones, so many of them: acts that ran before their removal are refused from then on.
local function drop_tombs(count)
  local oldest = redis.call("ZPOPMIN", key("tombs"), count)
  for i = 1, #oldest, 2 do
    local at = string.find(oldest[i], "\0", 1, true)
    local rows, text = key("rows:" .. string.sub(oldest[i], 1, at - 1)), string.sub(oldest[i], at + 1)
    local row = redis.call("HGET", rows, text)
    if row and #row == 8 and version_of(row) == tonumber(oldest[i + 1]) then redis.call("HDEL", rows, text) end
    redis.call("HSET", DATASET, "tombs_from", oldest[i + 1])
  end
end

local function trim_tombs()
  local above = redis.call("ZCARD", key("tombs")) - MOST_TOMBS
  if above > 0 then drop_tombs(math.min(above, 200)) end
end

-- Fields behind each other, each behind its length.
local function packed(fields)
  local parts = {}
  for _, field in ipairs(fields) do
    parts[#parts + 1] = struct.pack(">I8", #field)
    parts[#parts + 1] = field
  end
  return table.concat(parts)
end

-- Counts the bytes of the newest entry, and drops the oldest entries where the stream has more than MOST_MARKS of MARK_BYTES. The entry
-- that completed the oldest mark stays, so the newest entry always does.
local function trim_stream(version, bytes)
  local unmarked = redis.call("HINCRBY", DATASET, "unmarked", bytes)
  if unmarked < MARK_BYTES then return end
  local marks = key("marks")
  for _ = 1, math.min(math.floor(unmarked / MARK_BYTES), MOST_MARKS) do redis.call("RPUSH", marks, version) end
  redis.call("HSET", DATASET, "unmarked", unmarked % MARK_BYTES)
  local above = redis.call("LLEN", marks) - MOST_MARKS
  if above <= 0 then return end
  local passed = redis.call("LPOP", marks, above)
  redis.call("XTRIM", key("stream"), "MINID", passed[above] .. "-0")
end

-- `writes`: flat list of table, key, first part ("" where the key has one part only), and the blob of the row or 0.
local function write(version, writes, origin, format)
  local stamp = struct.pack(">I8", version)
  local text = decimal(version)
  local before, fields, bytes = redis.call("HGET", DATASET, "origin"), {}, 0
  for i = 1, #writes, 4 do
    local name, row_key, part, row = writes[i], writes[i + 1], writes[i + 2], blob(writes[i + 3])
    redis.call("HSET", key("rows:" .. name), row_key, row and (stamp .. "+" .. row) or stamp)
    change_range(name, "", text)
    if part ~= "" then change_range(name, part, text) end
    local member = name .. "\0" .. row_key
    if row then
      redis.call("ZREM", key("tombs"), member)
    else
      redis.call("ZADD", key("tombs"), version, member)
    end
    fields[#fields + 1] = member
    fields[#fields + 1] = row and ("+" .. row) or "-"
    bytes = bytes + #member + #fields[#fields]
  end
  if #fields > MOST_FIELDS then fields = { "packed", packed(fields) } end
  redis.call(
    "XADD", key("stream"), "MAXLEN", "~", STREAM_ENTRIES, text .. "-0",
    "origin", origin, "before", before, "format", format, unpack(fields)
  )
  redis.call("HSET", DATASET, "version", text, "origin", origin)
  trim_stream(text, bytes)
  trim_tombs()
end

-- Who may commit alone now. A ticket ends by steady time: Redis's own expiry follows a clock that may be set back.
local function ticket_holder()
  local holder, at = string.match(redis.call("GET", key("ticket")) or "", "^([^ ]+) (%d+)$")
  if holder and now_ms() - tonumber(at) < TICKET_MS then return holder end
  return nil
end

-- { "acts", base, origin, acts, format or none for 1 }: commits acts that ran one after the other on the rows of version `base`, which `origin`
-- made, each of them { id, reads, ranges, writes, postings }, up to the first one that would have read something else.
-- Returns how many were committed, the version now, and why the rest was not: "", "stale", "wait", "recall" where other cells
-- were asked to give credit back first, "awaited" where cells must say first what they hold of it, or "past" where this dataset has no
-- such version.
operations.acts = function(operation)
  local base, acts = operation[2], operation[4]
  local holder = ticket_holder()
  began_at, ranges_before = version_now(), {}
  if holder and holder ~= CELL .. ":" .. LIFE then return { 0, began_at, "wait" } end
  if not is_past(base, operation[3]) then return { 0, began_at, "past" } end
  local version, why = began_at, ""
  for _, act in ipairs(acts) do
    if not is_current(base, act[2], act[3]) then
      why = "stale"
      break
    end
    why = refusal_of_postings(act[5]) or ""
    if why ~= "" then break end
    make_postings(act[5])
    version = version + 1
    write(version, act[4], CELL .. ":" .. LIFE .. ":" .. act[1], decimal(operation[5] or 1))
    redis.call("HSET", key("runs"), CELL, LIFE .. ":" .. act[1])
  end
  return { version - began_at, version, why }
end

-- { "ticket" }: asks to commit alone. Returns 1 if this cell now may, for half a second.
operations.ticket = function()
  local mine = CELL .. ":" .. LIFE
  local holder = ticket_holder()
  if holder then return { holder == mine and 1 or 0 } end
  redis.call("SET", key("ticket"), mine .. " " .. decimal(now_ms()), "PX", TICKET_MS)
  return { 1 }
end

-- { "release" }: gives the ticket back.
operations.release = function()
  if ticket_holder() == CELL .. ":" .. LIFE then redis.call("DEL", key("ticket")) end
  return {}
end

-- { "forget", version, tables }: what acts removed leaves the dataset: tombstones, a few thousand at once; with the last of them the names
-- in ranges of these tables, and entries of the stream up to `version`, which all cells have applied. Returns how many tombstones are left.
operations.forget = function(operation)
  drop_tombs(FORGET_TOMBS)
  local left = redis.call("ZCARD", key("tombs"))
  if left > 0 then return { left } end
  -- Acts that ran before are refused, so no range has to tell them of a change.
  redis.call("HSET", DATASET, "tombs_from", decimal(version_now()))
  for _, name in ipairs(operation[3]) do redis.call("DEL", key("ranges:" .. name)) end
  redis.call("XTRIM", key("stream"), "MINID", decimal(operation[2] + 1) .. "-0")
  return { 0 }
end
