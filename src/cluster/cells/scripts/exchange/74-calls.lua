-- Calls that outlive their clients: what other cells must know of one where the cell that runs it dies.
--
-- {…}:calls                  set: "cell:life" of all below
-- {…}:calls:<cell>:<life>    hash: id of a call that runs or may be read -> whose it is, as that cell says it
-- {…}:calls_left             hash: cell -> its life that stopped and had told of each call that can be read once it runs again
--
-- A cell takes back what can no longer be read. What a life leaves that is over stays for as long as its calls could have been read: from
-- the start of the next life on, or from retirement (`retire.lua`), or from its leaving.

local CALLS_MS = 600000

-- { "calls", { id, call, … }, { id, … } }: calls that begin, and calls that can no longer be read.
operations.calls = function(operation)
  local own = CELL .. ":" .. LIFE
  for i = 1, #operation[2], 2 do redis.call("HSET", key("calls:" .. own), operation[2][i], operation[2][i + 1]) end
  if #operation[2] > 0 then redis.call("SADD", key("calls"), own) end
  for _, id in ipairs(operation[3]) do redis.call("HDEL", key("calls:" .. own), id) end
  return {}
end

-- { "calls_former" }: a life begins, or a term in it, and all earlier lives of the cell are over. The calls of this one follow: a failover
-- may have lost that some were taken back.
operations.calls_former = function()
  redis.call("UNLINK", key("calls:" .. CELL .. ":" .. LIFE))
  for _, of in ipairs(redis.call("SMEMBERS", key("calls"))) do
    local cell, life = string.match(of, "^([^:]*):(.*)$")
    local left = redis.call("PTTL", key("calls:" .. of))
    if left == -2 then redis.call("SREM", key("calls"), of)
    elseif cell == CELL and life ~= LIFE and left == -1 then redis.call("PEXPIRE", key("calls:" .. of), CALLS_MS) end
  end
  return {}
end

-- { "calls_left", term }: the life is over in good order. `term`: the one in which the cell told of each call that it has; "" where it did
-- not. Another one may lack some of them.
operations.calls_left = function(operation)
  if operation[2] == ARGV[2] then redis.call("HSET", key("calls_left"), CELL, LIFE) end
  redis.call("PEXPIRE", key("calls:" .. CELL .. ":" .. LIFE), CALLS_MS)
  return {}
end
