-- Spend of keys, projects and orgs over all cells, and the leases of hard budgets that cells have. A cell admits calls within its lease
-- alone, so all cells together never spend more than the budget. Spend is counted by the exchange that brings the charge: once.
--
-- {…}:spend:<scope>            hash. A scope is "k:" and the first key of a lineage, "p:" and a project, or "o:" and an org.
--                              d newest day "YYYY-MM-DD", of the org's time zone; t spent on it; m spent in its month;
--                              l, h, l:<cell>, h:<cell> as an org's credit has them, of its hard budget;
--                              of an org: s:<day> spent on a day before; u the usual of a day; w the newest day that was told as unusual
-- {…}:budget_leases:<cell>     set: scopes of which the cell has a lease or holds
-- {…}:budget_wanted:<cell>     set: scopes whose idle lease the cell is asked to give back
--
-- A key's budget is of a day, the others are of a month. Days never go back: what a cell calls by an older day than the newest one is
-- counted there if it is known, and never in the newest. A lease is of no day: it counts until the cell has said what it holds.

local SCOPE_VALUES = 13
-- A cell whose time is ahead of Redis's by more does not begin a day.
local EARLY_MS = 1000
-- Without a charge for so long nothing is spent in any period.
local SPEND_KEPT_MS = 40 * 86400000
-- With fewer days of spend among the last seven nothing is usual.
local LEAST_DAYS = 3

local function spend_key(scope) return key("spend:" .. scope) end

local function month_of(day) return string.sub(day, 1, 7) end

local function spend_of(scope, cell)
  local found = redis.call("HMGET", spend_key(scope), "d", "t", "m", "u", "l", "h", "l:" .. cell, "h:" .. cell)
  local numbers = {}
  for i = 2, 8 do numbers[i] = tonumber(found[i] or 0) end
  return {
    scope = scope, kind = string.sub(scope, 1, 1), day = found[1] or "",
    today = numbers[2], month = numbers[3], usual = numbers[4],
    leases = numbers[5], holds = numbers[6], lease = numbers[7], held = numbers[8],
  }
end

-- The mean of the days from `first` on before today that had any spend; 0 where they are fewer than three. Forgets older ones.
local function usual_of(spend, first)
  local sum, days = 0, 0
  local all = redis.call("HGETALL", spend_key(spend.scope))
  for i = 1, #all, 2 do
    local day = string.match(all[i], "^s:(.+)$")
    if day and day < first then
      redis.call("HDEL", spend_key(spend.scope), all[i])
    elseif day and day < spend.day then
      sum, days = sum + tonumber(all[i + 1]), days + 1
    end
  end
  if days < LEAST_DAYS then return 0 end
  return math.floor(sum / days + 0.5)
end

-- Counts a sum that was charged on `day`, and begins the day where it is newer than the newest. Returns what was added to the period of
-- the scope's budget.
local function count_spend(spend, day, starts, first, sum, now)
  if day > spend.day and (spend.day == "" or starts <= now + EARLY_MS) then
    if spend.kind == "o" and spend.today > 0 then
      redis.call("HSET", spend_key(spend.scope), "s:" .. spend.day, decimal(spend.today))
    end
    if month_of(day) ~= month_of(spend.day) then spend.month = 0 end
    spend.today, spend.day, spend.has_begun = 0, day, true
    if spend.kind == "o" then spend.usual = usual_of(spend, first) end
  end
  if day >= spend.day then
    spend.today, spend.month = spend.today + sum, spend.month + sum
    return sum
  end
  if spend.kind == "o" and sum > 0 then
    redis.call("HINCRBY", spend_key(spend.scope), "s:" .. day, decimal(sum))
    spend.usual, spend.has_begun = usual_of(spend, first), true
  end
  if month_of(day) ~= month_of(spend.day) then return 0 end
  spend.month = spend.month + sum
  return spend.kind == "k" and 0 or sum
end

-- One scope's part of an exchange:
--   day, starts    day of the charges, or today, and when it began, milliseconds; `first`: the day seven days before
--   sum            of charges
--   held, target, need   as `exchange_credit` has them, of the hard budget
--   hard, soft     the budget, 0 for none; `ends`: of its period, milliseconds
--   pct, day_ends  of an org: by how many percent a day exceeds the usual that is to be told, -1 for none; the day's end
-- Returns lease, free, available, outcome, spent in the period, sum of all holds and the newest day. Adds to `crossed` what was crossed:
-- scope, limit, spent, usual (-1: a soft budget), percent, end of the period, day.
local function exchange_budget(part, now, is_restating, crossed)
  local scope, day, starts, sum, held, target, need, hard, soft, ends, pct, first, day_ends = unpack(part)
  local spend = spend_of(scope, CELL)
  local counted = count_spend(spend, day, starts, first, sum, now)
  local spent = spend.kind == "k" and spend.today or spend.month
  local more = {}
  if soft > 0 and spent > soft and spent - counted <= soft then
    for _, value in ipairs({ scope, soft, spent, -1, 0, ends, spend.day }) do crossed[#crossed + 1] = value end
  end
  local is_unusual = pct >= 0 and spend.usual > 0 and spend.today > spend.usual * (1 + pct / 100)
  if is_unusual and counted > 0 and redis.call("HGET", spend_key(scope), "w") ~= spend.day then
    more = { "w", spend.day }
    local values = { scope, 0, spend.today, spend.usual, pct, day_ends, spend.day }
    for _, value in ipairs(values) do crossed[#crossed + 1] = value end
  end
  local lease_before, held_before = spend.lease, spend.held
  local covered = math.min(sum, spend.lease)
  local lease, leases = spend.lease - covered, spend.leases - covered
  if hard == 0 then held = 0 end
  local holds = spend.holds - held_before + held
  local granted, outcome = 0, GRANTED
  if hard > 0 then
    granted, outcome = lease_for(hard - spent, leases, holds, lease, held, target, need, is_restating)
  end
  leases = leases - lease + granted
  if sum > 0 or spend.has_begun or granted ~= lease_before or held ~= held_before then
    for _, value in ipairs({ "d", spend.day, "t", decimal(spend.today), "m", decimal(spend.month) }) do
      more[#more + 1] = value
    end
    if spend.kind == "o" then
      more[#more + 1] = "u"
      more[#more + 1] = decimal(spend.usual)
    end
    local was_known = lease_before ~= 0 or held_before ~= 0
    local set = key("budget_leases:" .. CELL)
    write_part(spend_key(scope), set, scope, CELL, leases, holds, granted, held, was_known, more)
    if spend.has_begun then redis.call("PEXPIRE", spend_key(scope), SPEND_KEPT_MS) end
  end
  if outcome == ELSEWHERE then want_idle(spend_key(scope), "budget_wanted:", scope) end
  return granted, hard - spent - leases, hard - spent - holds, outcome, spent, holds, spend.day
end

-- `budgets`: a flat list of what `exchange_budget` takes. Returns a flat list of what it returns for each, scopes whose idle lease
-- the cell is asked to give back, what was crossed, and Redis's time.
exchange_budgets = function(budgets, is_restating)
  local now = now_ms()
  local answers, crossed = {}, {}
  for i = 1, #budgets, SCOPE_VALUES do
    local part = {}
    for n = 1, SCOPE_VALUES do part[n] = budgets[i + n - 1] end
    for _, value in ipairs({ exchange_budget(part, now, is_restating, crossed) }) do
      answers[#answers + 1] = value
    end
  end
  return answers, redis.call("SPOP", key("budget_wanted:" .. CELL), WANTED_TOLD), crossed, now
end

-- Gives back what the cell's former life had leased of so many budgets. Returns how many are left.
return_budgets = function(count)
  local name = key("budget_leases:" .. CELL)
  for _, scope in ipairs(redis.call("SRANDMEMBER", name, count)) do
    local spend = spend_of(scope, CELL)
    local leases, holds = spend.leases - spend.lease, spend.holds - spend.held
    write_part(spend_key(scope), name, scope, CELL, leases, holds, 0, 0, true)
  end
  redis.call("DEL", key("budget_wanted:" .. CELL))
  return redis.call("SCARD", name)
end

-- { "budget_restate", leases }: as "credit_restate", a flat list of scope and lease.
operations.budget_restate = function(operation)
  local stated = operation[2]
  for i = 1, #stated, 2 do
    local spend = spend_of(stated[i], CELL)
    if stated[i + 1] > spend.lease then
      local was_known = spend.lease ~= 0 or spend.held ~= 0
      local leases = spend.leases - spend.lease + stated[i + 1]
      local set = key("budget_leases:" .. CELL)
      write_part(spend_key(stated[i]), set, stated[i], CELL, leases, spend.holds, stated[i + 1], spend.held, was_known)
    end
  end
  return {}
end

-- { "spend", scope, … }: of each the newest day, spent on it, and in its month; then Redis's time.
operations.spend = function(operation)
  local answer = {}
  for i = 2, #operation do
    local found = redis.call("HMGET", spend_key(operation[i]), "d", "t", "m")
    answer[#answer + 1] = found[1] or ""
    answer[#answer + 1] = tonumber(found[2] or 0)
    answer[#answer + 1] = tonumber(found[3] or 0)
  end
  answer[#answer + 1] = now_ms()
  return answer
end

-- { "spend_begin", scopes }: what a dataset begins with: a flat list of scope, its newest day, spent on it and in its month, and of an org
-- the usual of a day and a list of days before: day, spent on it. What is there stays.
operations.spend_begin = function(operation)
  local scopes = operation[2]
  for i = 1, #scopes, 6 do
    local scope, day, today, month, usual, days = unpack(scopes, i, i + 5)
    local name = spend_key(scope)
    if redis.call("EXISTS", name) == 0 then
      redis.call("HSET", name, "d", day, "t", decimal(today), "m", decimal(month))
      if string.sub(scope, 1, 1) == "o" then redis.call("HSET", name, "u", decimal(usual)) end
      for n = 1, #days, 2 do redis.call("HSET", name, "s:" .. days[n], decimal(days[n + 1])) end
      redis.call("PEXPIRE", name, SPEND_KEPT_MS)
    end
  end
  return {}
end
