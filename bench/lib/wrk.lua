-- Asks the requests of a file in turn and prints one line of JSON about them.
-- Arguments: the file, whose lines are method, path, key and body with tabs between them; what in a
-- body stands for the number of the request; and the first such number.
local requests, turn, number, placeholder = {}, 0, 0, ""

function init(args)
  placeholder, number = args[2], tonumber(args[3])
  for line in io.lines(args[1]) do
    local method, path, key, body = line:match("^(.-)\t(.-)\t(.-)\t(.*)$")
    local headers = { Authorization = "Bearer " .. key }
    if body == "" then
      requests[#requests + 1] = { bytes = wrk.format(method, path, headers) }
    else
      headers["Content-Type"] = "application/json"
      requests[#requests + 1] = { method = method, path = path, headers = headers, body = body }
    end
  end
end

function request()
  turn = turn % #requests + 1
  local next = requests[turn]
  if next.bytes then return next.bytes end
  number = number + 1
  local body = next.body:gsub(placeholder, number)
  return wrk.format(next.method, next.path, next.headers, body)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
