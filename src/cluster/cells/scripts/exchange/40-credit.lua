-- Credit: each org's balance, and the leases of it that cells have. A cell admits calls within its lease alone, so all cells
-- together never admit more than the balance. All amounts are micro-USD, whole and below 2^53.
--
-- {…}:credit:<org>      hash: b balance, n number of the newest ledger entry, l sum of all leases, h sum of all holds;
--                       l:<cell> lease of a cell; h:<cell> what of it the cell's open holds and unsent charges take, as it last said
-- {…}:leases:<cell>     set: orgs of which the cell has a lease or holds
-- {…}:frozen:<org>      "cell milliseconds": an act of it that reads the org's credit is under way, and since when
-- {…}:wanted:<cell>     set: orgs whose idle credit the cell is asked to give back
-- {…}:settled           hash: cell -> row before its latest batch of charges, last row of it, a mark of that row, its answer
-- {…}:restored          set: cells whose folders may be behind `settled` once, because all was restored from one backup
--
-- Free is the balance without all leases. It is below zero where an upstream reported more than was held.

local GRANTED, NONE, ELSEWHERE, RESTATING = 0, 1, 2, 3
local WANTED_TOLD = 200
local FROZEN_MS = 300

local function credit_key(org) return key("credit:" .. org) end

local function credit_of(org, cell)
  local found = redis.call("HMGET", credit_key(org), "b", "n", "l", "h", "l:" .. cell, "h:" .. cell)
  for i = 1, 6 do found[i] = tonumber(found[i] or 0) end
  return unpack(found)
end

-- Asks every cell that seems to have something idle of what the hash `name` shares out to give it back: notes `id` in its set, whose
-- name begins with `wanted`. Returns whether there is one.
local function want_idle(name, wanted, id)
  local leases, holds, has_idle = {}, {}, false
  local all = redis.call("HGETALL", name)
  for i = 1, #all, 2 do
    local what, cell = string.match(all[i], "^([lh]):(.+)$")
    if what == "l" then leases[cell] = tonumber(all[i + 1]) end
    if what == "h" then holds[cell] = tonumber(all[i + 1]) end
  end
  for cell, lease in pairs(leases) do
    if lease > (holds[cell] or 0) then
      has_idle = true
      redis.call("SADD", key(wanted .. cell), id)
    end
  end
  return has_idle
end

local function want(org) return want_idle(credit_key(org), "wanted:", org) end

-- Writes what one cell has of what the hash `name` shares out, and the sums; notes `id` in the set `set` of those of which it has
-- something. `more`: other fields and values of the hash, or nothing.
local function write_part(name, set, id, cell, leases, holds, lease, held, was_known, more)
  local fields = more or {}
  local function add(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = decimal(value)
  end
  add("l", leases)
  add("h", holds)
  local is_known = lease ~= 0 or held ~= 0
  if is_known then
    add("l:" .. cell, lease)
    add("h:" .. cell, held)
  end
  redis.call("HSET", name, unpack(fields))
  if is_known and not was_known then redis.call("SADD", set, id) end
  if was_known and not is_known then
    redis.call("HDEL", name, "l:" .. cell, "h:" .. cell)
    redis.call("SREM", set, id)
  end
end

local function write_lease(org, cell, leases, holds, lease, held, was_known, more)
  write_part(credit_key(org), key("leases:" .. cell), org, cell, leases, holds, lease, held, was_known, more)
end

-- What a cell's lease becomes, of which `total` is shared out, and an outcome: for a need that the lease does not cover, why.
local function lease_for(total, leases, holds, lease, held, target, need, is_restating)
  local most = lease + total - leases
  if is_restating then most = math.min(most, lease) end
  local granted = math.min(math.max(target, held), most)
  -- Less than the next call needs helps nobody: the rest goes to a call that it covers.
  if need >= 0 and granted > lease and granted - held < need then granted = lease end
  granted = math.max(granted, math.min(held, lease), 0)
  if need < 0 or granted - held >= need then return granted, GRANTED end
  if is_restating then return granted, RESTATING end
  return granted, total - holds < need and NONE or ELSEWHERE
end

-- Of 60-budgets.lua.
local exchange_budgets, return_budgets

-- One org's part of an exchange. `held` is what the cell's lease must cover after these charges; `need` what its next call
-- takes beyond that, -1 for none.
-- Returns number of the first charge (0: none), balance before, lease, balance, free, available (balance without all holds, as last
-- said), and an outcome: for a need that the lease does not cover, why.
local function exchange_credit(org, count, sum, held, target, need, is_restating)
  local balance, seq, leases, holds, lease, held_before = credit_of(org, CELL)
  local before, first, lease_before, more = balance, 0, lease, nil
  if count > 0 then
    first = seq + 1
    balance = balance - sum
    local covered = math.min(sum, lease)
    lease = lease - covered
    leases = leases - covered
    more = { "b", decimal(balance), "n", decimal(seq + count) }
  end
  holds = holds - held_before + held
  local granted, outcome = lease_for(balance, leases, holds, lease, held, target, need, is_restating)
  leases = leases - lease + granted
  if more or granted ~= lease_before or held ~= held_before then
    local was_known = lease_before ~= 0 or held_before ~= 0
    write_lease(org, CELL, leases, holds, granted, held, was_known, more)
  end
  if outcome == ELSEWHERE then want(org) end
  return first, before, granted, balance, balance - leases, balance - holds, outcome
end

-- The cell that has the org's credit to itself for a moment, by steady time: Redis's own expiry follows a clock that may be set back.
local function holder_of(org)
  local cell, at = string.match(redis.call("GET", key("frozen:" .. org)) or "", "^([^ ]+) (%d+)$")
  if cell and now_ms() - tonumber(at) < FROZEN_MS then return cell end
  return nil
end

local function settled_of(cell)
  local kept = redis.call("HGET", key("settled"), cell)
  if kept then return unpack(cmsgpack.unpack(kept)) end
  return 0, 0, "", {}, {}
end

-- { "credit", after, last, mark, orgs, budgets }: charges of the cell's log after row `after` up to `last`, whose mark is `mark` (both equal: there
-- are none), and what the cell wants of each org: a flat list of { org, count, sum, held, target, need }. `budgets`: see
-- `exchange_budgets`. Returns 1, a flat list of what `exchange_credit` returns for each, orgs of which the cell is asked to give idle
-- credit back, and what `exchange_budgets` returns;
-- or, with nothing changed, 0 and the last row that is in, where that is not `after`, or 2 where an org is frozen for a moment.
operations.credit = function(operation)
  local after, last, mark, orgs = operation[2], operation[3], operation[4], operation[5]
  local has_charges = last > after
  if has_charges then
    local _, last_in = settled_of(CELL)
    if last_in ~= after then return { 0, last_in } end
    for i = 1, #orgs, 6 do
      if orgs[i + 1] > 0 and holder_of(orgs[i]) then return { 2 } end
    end
  end
  local is_restating = is_awaiting()
  local answers, numbered = {}, {}
  for i = 1, #orgs, 6 do
    local org = orgs[i]
    local first, before, lease, balance, free, available, outcome =
      exchange_credit(org, orgs[i + 1], orgs[i + 2], orgs[i + 3], orgs[i + 4], orgs[i + 5], is_restating)
    for _, value in ipairs({ first, before, lease, balance, free, available, outcome }) do
      answers[#answers + 1] = value
    end
    if first > 0 then
      numbered[#numbered + 1] = org
      numbered[#numbered + 1] = first
      numbered[#numbered + 1] = before
    end
  end
  local spends, wanted_scopes, crossed, now
  if operation[6] then
    spends, wanted_scopes, crossed, now = exchange_budgets(operation[6], is_restating)
  end
  if has_charges then
    redis.call("HSET", key("settled"), CELL, cmsgpack.pack({ after, last, mark, numbered, crossed or {} }))
  end
  local wanted = redis.call("SPOP", key("wanted:" .. CELL), WANTED_TOLD)
  return { 1, answers, wanted, spends, wanted_scopes, crossed, now, shift, clock_changes }
end

-- { "credit_position" }: what a new process of the cell must know: the row before the latest batch that is in, its last row, the mark of
-- that, a flat list of { org, first number, balance before }, the newest life of the cell that was retired, what was crossed, and 1 where
-- its folder may be behind.
operations.credit_position = function()
  local after, last, mark, numbered, crossed = settled_of(CELL)
  local retired = tonumber(redis.call("HGET", key("retired"), CELL) or 0)
  return { after, last, mark, numbered, retired, crossed, redis.call("SISMEMBER", key("restored"), CELL) }
end

-- { "credit_rewind", row, mark }: the rows of a restored cell's log are counted from this one on, once. Charges behind it stay charged.
operations.credit_rewind = function(operation)
  if redis.call("SREM", key("restored"), CELL) == 1 then
    redis.call("HSET", key("settled"), CELL, cmsgpack.pack({ operation[2], operation[2], operation[3], {}, {} }))
  end
  return {}
end

-- { "credit_skip", after, last, mark }: rows of the cell's log that are not charged, because the life that wrote them was retired.
operations.credit_skip = function(operation)
  local _, last_in = settled_of(CELL)
  if last_in ~= operation[2] then return { 0, last_in } end
  redis.call("HSET", key("settled"), CELL, cmsgpack.pack({ operation[2], operation[3], operation[4], {}, {} }))
  return { 1 }
end

-- { "credit_return", count }: gives back what the cell's former life had leased, of so many orgs and as many budgets; only before it
-- leases anything. Returns how many are left.
operations.credit_return = function(operation)
  local name = key("leases:" .. CELL)
  for _, org in ipairs(redis.call("SRANDMEMBER", name, operation[2])) do
    local _, _, leases, holds, lease, held = credit_of(org, CELL)
    write_lease(org, CELL, leases - lease, holds - held, 0, 0, true)
  end
  redis.call("DEL", key("wanted:" .. CELL))
  return { redis.call("SCARD", name) + return_budgets(operation[2]) }
end

-- { "credit_restate", row, leases }: what the cell knows to be confirmed: the last row of its log that is in, and a flat list of org
-- and lease. A dataset that lost its last writes sets these aside again, before any lease may grow.
-- Returns the last row that is in, and `row`.
operations.credit_restate = function(operation)
  local _, last_in = settled_of(CELL)
  if last_in < operation[2] then lacks_confirmed = true end
  local stated = operation[3]
  for i = 1, #stated, 2 do
    local _, _, leases, holds, lease, held = credit_of(stated[i], CELL)
    if stated[i + 1] > lease then
      local was_known = lease ~= 0 or held ~= 0
      write_lease(stated[i], CELL, leases - lease + stated[i + 1], holds, stated[i + 1], held, was_known)
    end
  end
  return { last_in, operation[2] }
end

-- Number of the newest entry, balance, sum of all holds as last said, and sum of all leases, of each org from operation[2] on.
local function add_funds(operation, answer)
  for i = 2, #operation do
    local balance, seq, leases, holds = credit_of(operation[i], CELL)
    for _, value in ipairs({ seq, balance, holds, leases }) do answer[#answer + 1] = value end
  end
  return answer
end

-- { "credit_funds", org, … }: what `add_funds` says of each.
operations.credit_funds = function(operation) return add_funds(operation, {}) end

-- { "credit_freeze", org, … }: for a moment no charge of these orgs is taken and nobody posts to them but this cell, so that an act
-- which reads their credit is not overtaken. Returns 1, the version now, and what `add_funds` says of each; or 0 where another cell has
-- one of them.
operations.credit_freeze = function(operation)
  for i = 2, #operation do
    local holder = holder_of(operation[i])
    if holder and holder ~= CELL then return { 0 } end
  end
  local mine = CELL .. " " .. decimal(now_ms())
  for i = 2, #operation do redis.call("SET", key("frozen:" .. operation[i]), mine, "PX", FROZEN_MS) end
  return add_funds(operation, { 1, version_now() })
end

-- { "credit_thaw", org, … }: the act is over.
operations.credit_thaw = function(operation)
  for i = 2, #operation do
    if holder_of(operation[i]) == CELL then redis.call("DEL", key("frozen:" .. operation[i])) end
  end
  return {}
end

-- { "credit_begin", orgs }: balances a dataset begins with: a flat list of org, number of its newest entry, balance. What is there stays.
operations.credit_begin = function(operation)
  local orgs = operation[2]
  for i = 1, #orgs, 3 do
    if redis.call("EXISTS", credit_key(orgs[i])) == 0 then
      redis.call("HSET", credit_key(orgs[i]), "n", decimal(orgs[i + 1]), "b", decimal(orgs[i + 2]))
    end
  end
  return {}
end

-- Whether `amount` may be posted: "" or, with nothing changed, "recall" (cells were asked to give idle credit back: try again in a moment),
-- "stale" (no call may be refused credit that this would take) or "awaited" (cells have not said yet what they hold). `may_overdraw`: see
-- `ActCredit`.
local function refusal_of(org, amount, free, available, may_overdraw)
  if amount >= 0 then return "" end
  if may_overdraw == 0 and is_awaiting() then return "awaited" end
  if free >= -amount then return "" end
  if may_overdraw == 0 and available < -amount then return "stale" end
  local has_idle = want(org)
  if may_overdraw < 2 and (has_idle or may_overdraw == 0) then return "recall" end
  return ""
end

-- `credit`: what an act read of credit and posts, lists of { org, number of the newest entry that it knew, may_overdraw, amounts… }.
refusal_of_postings = function(credit)
  for _, postings in ipairs(credit) do
    local balance, seq, leases, holds = credit_of(postings[1], CELL)
    if seq ~= postings[2] then return "stale" end
    local sum = 0
    for i = 4, #postings do
      local refusal =
        refusal_of(postings[1], postings[i], balance + sum - leases, balance + sum - holds, postings[3])
      if refusal ~= "" then return refusal end
      sum = sum + postings[i]
    end
  end
end

make_postings = function(credit)
  for _, postings in ipairs(credit) do
    local balance, seq = credit_of(postings[1], CELL)
    for i = 4, #postings do balance = balance + postings[i] end
    if #postings > 3 then
      redis.call("HSET", credit_key(postings[1]), "n", decimal(seq + #postings - 3), "b", decimal(balance))
    end
  end
end
