-- Limits of keys over all cells: requests and tokens a minute, calls in flight.
--
-- {…}:requests:<key>  list of pairs, a sliding window: milliseconds and the running sum up to then, oldest first. The first
-- {…}:tokens:<key>    pair is the sum that has left the window. A weight counts for 60 s from its time.
-- {…}:leased:<key>    hash: "w:<cell>:<life>" -> batches the cell may use, each "id milliseconds requests tokens": it may do so
--                     until 500 ms after that time, so that a release that knows no longer batches counts it as long;
--                     "c:<cell>:<life>" -> "slots milliseconds": calls in flight it has or may begin, and when it said so
-- {…}:slots:<cell>    set: keys of which another cell wants slots for calls
-- {…}:limit_rows      sorted set: names of the rows above by when they can be forgotten, or earlier
--
-- A batch is good at the cell for 500 ms, counted there from before it was asked for, so it counts here for 60.5 s. While less than
-- a tenth of a window is taken, it is a part ahead instead: good for as long as the cell may act without Redis (`cells.stale_ms`).
-- Slots for calls end with the cell's life, or when the cell says so, or so long after its last word that no call can last.

local WINDOW_MS = 60000
local BATCH_MS = 500
-- As SLOT_MS and LONGEST_CALL_MS of src/cluster/cells/limits/key-state.ts, added up.
local SLOTS_MS = 30000 + 3600000
-- A key's window is forgotten when all of it has left, with a margin. Not by Redis's own expiry, which follows a clock that may be set.
local FORGET_MS = WINDOW_MS + BATCH_MS + 4500
-- So many times of a window are kept to the millisecond; later ones are rounded up, so that a window is bounded.
local EXACT_PAIRS = 2000
local COARSE_MS = 20
-- A batch takes at most this part of what is left, so that one cell leaves something for the others.
local PART = 16
local UNDO_PAIRS = 64
-- Rows that are looked at with each new one, whether they can be forgotten.
local FORGET_ROWS = 4
-- All parts ahead together are at most a tenth of a limit; smaller limits have none. One cell takes a quarter of what is left of it.
local LEAST_AHEAD = 1000
local AHEAD = 10
local AHEAD_PART = 4
-- As LONGEST_STALE_MS of src/cluster/cells/settings.ts.
local LONGEST_STALE_MS = 30000

-- One instant for the whole exchange.
local limits_at

-- When this row can be forgotten; nothing where it is gone.
local function forgotten_at(name)
  if string.sub(name, 1, 7) ~= "leased:" then
    local last = redis.call("LINDEX", key(name), -2)
    return last and tonumber(last) + FORGET_MS
  end
  local all = redis.call("HGETALL", key(name))
  local latest
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 1) == "c" then
      latest = math.max(latest or 0, tonumber(string.match(all[i + 1], " (%d+)$")) + SLOTS_MS)
    else
      for at in string.gmatch(all[i + 1], "%d+ (%d+) %d+ %d+") do latest = math.max(latest or 0, tonumber(at) + FORGET_MS) end
    end
  end
  return latest
end

-- Notes a row that was written, where it is new, and forgets some of those whose time has come.
local function note_row(name, is_new)
  -- A release before this one had Redis forget it.
  local had_end = redis.call("PERSIST", key(name)) == 1
  if not is_new and not had_end then return end
  redis.call("ZADD", key("limit_rows"), decimal(limits_at + FORGET_MS), name)
  for _, old in ipairs(redis.call("ZRANGEBYSCORE", key("limit_rows"), 0, decimal(limits_at), "LIMIT", 0, FORGET_ROWS)) do
    local at = forgotten_at(old)
    if at and at > limits_at then
      redis.call("ZADD", key("limit_rows"), decimal(at), old)
    else
      redis.call("ZREM", key("limit_rows"), old)
      redis.call("DEL", key(old))
    end
  end
end

local function drop_expired(log)
  local expired = 0
  repeat
    local pairs_now = redis.call("LRANGE", log.key, 2 + expired * 2, 129 + expired * 2)
    local before = expired
    for i = 1, #pairs_now, 2 do
      if tonumber(pairs_now[i]) + WINDOW_MS > limits_at then break end
      expired = expired + 1
      log.base = tonumber(pairs_now[i + 1])
    end
  until expired - before < 64
  if expired == 0 then return end
  if expired == log.pairs then
    redis.call("DEL", log.key)
    log.pairs, log.base, log.sum, log.last = 0, 0, 0, 0
    return
  end
  -- The last pair that expired stays as what has left.
  redis.call("LPOP", log.key, expired * 2)
  log.pairs = log.pairs - expired
end

-- Everything in the window happened at `at`.
local function squeeze(log, at)
  local weight = log.sum - log.base
  redis.call("DEL", log.key)
  redis.call("RPUSH", log.key, "0", "0", decimal(at), decimal(weight))
  log.base, log.sum, log.last, log.pairs = 0, weight, at, 1
end

local function open_log(name)
  local log = { name = name, key = key(name), base = 0, sum = 0, last = 0, pairs = 0, is_changed = false, is_new = false }
  local head = redis.call("LRANGE", log.key, 0, 3)
  if #head == 0 then return log end
  log.base = tonumber(head[2])
  log.pairs = redis.call("LLEN", log.key) / 2 - 1
  local tail = redis.call("LRANGE", log.key, -2, -1)
  log.last, log.sum = tonumber(tail[1]), tonumber(tail[2])
  if tonumber(head[3]) + WINDOW_MS <= limits_at then
    drop_expired(log)
  elseif log.last > limits_at + 1000 then
    -- Redis's clock was set back: nothing may count longer than a minute from now.
    squeeze(log, limits_at)
    log.is_changed = true
  end
  return log
end

local function log_total(log) return log.sum - log.base end

-- The times of a window never step back: where another cell was later, its time is taken. Returns the time.
local function log_add(log, at, weight)
  if weight == 0 then return 0 end
  at = math.max(at, log.last)
  if log.pairs >= EXACT_PAIRS then at = math.max(log.last, math.ceil(at / COARSE_MS) * COARSE_MS) end
  log.sum = log.sum + weight
  if log.pairs > 0 and at == log.last then
    redis.call("LSET", log.key, -1, decimal(log.sum))
  else
    if log.pairs == 0 then
      redis.call("RPUSH", log.key, "0", "0")
      log.is_new = true
    end
    redis.call("RPUSH", log.key, decimal(at), decimal(log.sum))
    log.pairs, log.last = log.pairs + 1, at
  end
  log.is_changed = true
  return at
end

-- Takes back what was added at this time, if that was lately.
local function log_undo(log, at, weight)
  -- All of it may have left the window since.
  if weight == 0 or at == 0 or log.pairs == 0 then return end
  local steps = math.min(log.pairs, UNDO_PAIRS)
  local newest = redis.call("LRANGE", log.key, -2 * steps, -1)
  local found
  for i = #newest - 1, 1, -2 do
    if tonumber(newest[i]) == at then found = i end
  end
  if not found then return end
  for i = found, #newest, 2 do
    redis.call("LSET", log.key, i - #newest, decimal(tonumber(newest[i + 1]) - weight))
  end
  log.sum = log.sum - weight
  log.is_changed = true
end

-- Milliseconds until `weight` fits under `limit`: 0 now. `leased` counts besides, the last of it until `leased_until`.
local function log_wait(log, weight, limit, leased, leased_until)
  local excess = log_total(log) + leased + weight - limit
  if excess <= 0 then return 0 end
  if log_total(log) < excess then return math.max(1, leased_until - limits_at) end
  local low, high = 1, log.pairs
  while low < high do
    local middle = math.floor((low + high) / 2)
    if tonumber(redis.call("LINDEX", log.key, middle * 2 + 1)) - log.base >= excess then
      high = middle
    else
      low = middle + 1
    end
  end
  return math.max(1, tonumber(redis.call("LINDEX", log.key, low * 2)) + WINDOW_MS - limits_at)
end

local function log_empty_in(log)
  if log.pairs == 0 then return 0 end
  return math.max(0, log.last + WINDOW_MS - limits_at)
end

local function log_close(log)
  if log.is_changed then note_row(log.name, log.is_new) end
end

local lives = {}
local function is_living(cell, life)
  if lives[cell] == nil then lives[cell] = redis.call("HGET", key("lives"), cell) or "" end
  return lives[cell] == life
end

-- What cells have of a key, besides what is in its windows.
local function open_leased(key_id)
  local name = "leased:" .. key_id
  local leased = { name = name, key = key(name), requests = 0, tokens = 0, slots = 0, till = 0, mine = {}, held = 0 }
  leased.holders, leased.had = {}, {}
  local all = redis.call("HGETALL", leased.key)
  leased.is_new = #all == 0
  for i = 1, #all, 2 do
    local kind, cell, life = string.match(all[i], "^(%a):(.*):(%d+)$")
    local is_mine = cell == CELL and life == LIFE
    local is_over = true
    if kind == "w" then
      for id, at, requests, tokens in string.gmatch(all[i + 1], "(%d+) (%d+) (%d+) (%d+)") do
        at, requests, tokens = tonumber(at), tonumber(requests), tonumber(tokens)
        -- A clock that was set back does not lengthen what was granted beyond what may be granted now.
        at = math.min(at, limits_at + LONGEST_STALE_MS - BATCH_MS)
        if at + WINDOW_MS + BATCH_MS > limits_at then
          is_over = false
          leased.requests, leased.tokens = leased.requests + requests, leased.tokens + tokens
          leased.till = math.max(leased.till, at + WINDOW_MS + BATCH_MS)
          if is_mine then leased.mine[#leased.mine + 1] = { id = tonumber(id), at = at, requests = requests, tokens = tokens } end
        end
      end
    else
      local slots, at = string.match(all[i + 1], "^(%d+) (%d+)$")
      if is_living(cell, life) and tonumber(at) + SLOTS_MS > limits_at then
        is_over = false
        if is_mine then
          leased.held = tonumber(slots)
        else
          leased.slots = leased.slots + tonumber(slots)
          leased.holders[#leased.holders + 1] = cell
        end
      end
    end
    if is_over then
      redis.call("HDEL", leased.key, all[i])
    elseif is_mine then
      leased.had[kind] = true
    end
  end
  return leased
end

-- `told`: flat list, for each batch that changed: id, its time, requests and tokens that are left, how many uses, and then
-- of each use the milliseconds since the batch was asked for, requests and tokens.
local function restate_batches(leased, told, requests, tokens)
  local i = 1
  while i <= #told do
    local id, at, left_requests, left_tokens, uses = told[i], told[i + 1], told[i + 2], told[i + 3], told[i + 4]
    i = i + 5
    for _ = 1, uses do
      local used_at = math.min(at + told[i], limits_at)
      if used_at + WINDOW_MS > limits_at then
        log_add(requests, used_at, told[i + 1])
        log_add(tokens, used_at, told[i + 2])
      end
      i = i + 3
    end
    for n, batch in ipairs(leased.mine) do
      if batch.id == id then
        leased.requests = leased.requests - batch.requests + left_requests
        leased.tokens = leased.tokens - batch.tokens + left_tokens
        batch.requests, batch.tokens = left_requests, left_tokens
        if left_requests == 0 and left_tokens == 0 then table.remove(leased.mine, n) end
        break
      end
    end
  end
end

local function close_leased(leased)
  local is_written = false
  if #leased.mine > 0 then
    local texts = {}
    for n, batch in ipairs(leased.mine) do
      texts[n] = decimal(batch.id) .. " " .. decimal(batch.at) .. " " .. decimal(batch.requests) .. " " .. decimal(batch.tokens)
    end
    redis.call("HSET", leased.key, "w:" .. CELL .. ":" .. LIFE, table.concat(texts, ";"))
    is_written = true
  elseif leased.had.w then
    redis.call("HDEL", leased.key, "w:" .. CELL .. ":" .. LIFE)
  end
  if leased.held > 0 then
    redis.call("HSET", leased.key, "c:" .. CELL .. ":" .. LIFE, decimal(leased.held) .. " " .. decimal(limits_at))
    is_written = true
  elseif leased.had.c then
    redis.call("HDEL", leased.key, "c:" .. CELL .. ":" .. LIFE)
  end
  if is_written then note_row(leased.name, leased.is_new) end
end

-- How much more a cell may have at once of what is left.
local function part_of(left, wish) return math.max(0, math.min(wish, math.floor(left / PART))) end

-- How much more a cell may have ahead of a limit of which this much is taken.
local function ahead_of(limit, taken, wish)
  if limit < LEAST_AHEAD then return 0 end
  return math.max(0, math.min(wish, math.floor((math.floor(limit / AHEAD) - taken) / AHEAD_PART)))
end

-- A batch for a cell, of windows of which this much is taken: a part ahead where that is no less than what it would have for a moment.
-- Returns requests, tokens and for how long it is good; zeros where not even two usual calls fit.
local function batch_of(rpm, tpm, requests_taken, tokens_taken, wish)
  local function is_useful(requests, tokens, of_requests, of_tokens)
    if of_requests == 0 then return false end
    return (rpm == 0 or requests >= 2) and (tpm == 0 or tokens >= 2 * of_tokens / of_requests)
  end
  local requests = rpm > 0 and part_of(rpm - requests_taken, wish[1]) or 0
  local tokens = tpm > 0 and part_of(tpm - tokens_taken, wish[2]) or 0
  if wish[7] > BATCH_MS then
    local requests_ahead, tokens_ahead = ahead_of(rpm, requests_taken, wish[4]), ahead_of(tpm, tokens_taken, wish[5])
    local is_less = requests_ahead < requests or tokens_ahead < tokens
    if not is_less and is_useful(requests_ahead, tokens_ahead, wish[4], wish[5]) then
      return requests_ahead, tokens_ahead, wish[7]
    end
  end
  if is_useful(requests, tokens, wish[1], wish[2]) then return requests, tokens, BATCH_MS end
  return 0, 0, 0
end

-- { "limit", key, rpm, tpm, concurrency, told, undone, asks, wish, slots, offered }
--   rpm, tpm, concurrency  the key's limits, 0 for none
--   told     batches of this cell, see restate_batches
--   undone   flat list: calls that were admitted and then not made: time among requests, time among tokens, tokens
--   asks     tokens of each call that waits
--   wish     what the cell would like besides: { requests, tokens, slots, and the same ahead, how long a part ahead is good }
--   slots    for calls that the cell has now, used or not; `offered` of them are free for `asks`
-- Returns Redis's time; sum of requests and milliseconds until none counts; the same of tokens; times at which admitted calls
-- were counted, among requests and among tokens; number, requests and tokens of a new batch, and for how long it is good; slots that
-- the cell has now, and those of all cells; and two numbers for each ask: 0 and 0 where it is admitted; else 1 for requests, 2 for tokens, 3 for slots, and the
-- milliseconds to wait.
operations.limit = function(operation)
  local _, key_id, rpm, tpm, concurrency, told, undone, asks, wish, slots, offered = unpack(operation)
  limits_at = limits_at or now_ms()
  local requests, tokens = open_log("requests:" .. key_id), open_log("tokens:" .. key_id)
  local leased = open_leased(key_id)
  restate_batches(leased, told, requests, tokens)
  for i = 1, #undone, 3 do
    log_undo(requests, undone[i], 1)
    log_undo(tokens, undone[i + 1], undone[i + 2])
  end
  leased.held = slots
  local results = {}
  local requests_at, tokens_at = 0, 0
  local refused, is_refused, wants_slots = nil, false, false
  for _, weight in ipairs(asks) do
    local code, wait = 0, 0
    if refused and refused[1] == weight then
      code, wait = refused[2], refused[3]
    else
      local requests_wait, tokens_wait = 0, 0
      if rpm > 0 then requests_wait = log_wait(requests, 1, rpm, leased.requests, leased.till) end
      if tpm > 0 then tokens_wait = log_wait(tokens, weight, tpm, leased.tokens, leased.till) end
      if tokens_wait > requests_wait then
        code, wait = 2, tokens_wait
      elseif requests_wait > 0 then
        code, wait = 1, requests_wait
      elseif concurrency > 0 and offered == 0 and leased.slots + leased.held >= concurrency then
        code, wants_slots = 3, true
      end
    end
    if code == 0 then
      if rpm > 0 then requests_at = log_add(requests, limits_at, 1) end
      if tpm > 0 then tokens_at = math.max(tokens_at, log_add(tokens, limits_at, weight)) end
      if concurrency > 0 then
        if offered > 0 then offered = offered - 1 else leased.held = leased.held + 1 end
      end
    else
      refused, is_refused = { weight, code, wait }, true
    end
    results[#results + 1] = code
    results[#results + 1] = wait
  end
  if wants_slots then
    for _, cell in ipairs(leased.holders) do redis.call("SADD", key("slots:" .. cell), key_id) end
  end
  local batch, more_requests, more_tokens, good = 0, 0, 0, 0
  if rpm + tpm > 0 and not is_refused then
    local requests_taken, tokens_taken = log_total(requests) + leased.requests, log_total(tokens) + leased.tokens
    more_requests, more_tokens, good = batch_of(rpm, tpm, requests_taken, tokens_taken, wish)
  end
  if good > 0 then
    batch = tonumber(ARGV[6])
    local at = limits_at + good - BATCH_MS
    leased.mine[#leased.mine + 1] = { id = batch, at = at, requests = more_requests, tokens = more_tokens }
    leased.requests, leased.tokens = leased.requests + more_requests, leased.tokens + more_tokens
    leased.till = math.max(leased.till, at + WINDOW_MS + BATCH_MS)
  end
  if concurrency > 0 and not is_refused then
    local taken = leased.slots + leased.held
    leased.held = leased.held + math.max(part_of(concurrency - taken, wish[3]), ahead_of(concurrency, taken, wish[6]))
  end
  log_close(requests)
  log_close(tokens)
  close_leased(leased)
  return {
    limits_at, log_total(requests) + leased.requests, log_empty_in(requests), log_total(tokens) + leased.tokens,
    log_empty_in(tokens), requests_at, tokens_at, batch, more_requests, more_tokens, good, leased.held,
    leased.held + leased.slots, unpack(results),
  }
end

-- { "wanted" }: keys of which other cells want slots that this one does not use.
operations.wanted = function() return redis.call("SPOP", key("slots:" .. CELL), 200) end
