-- Sends the requests of a file in turn and prints a summary as one line of JSON.
-- Arguments: the file, with method, path, body and the names and values of headers in each line,
-- separated by tabs; the placeholder for the number of the request in bodies; and the first number.
local requests, turn, number, placeholder = {}, 0, 0, ""

function init(args)
  placeholder, number = args[2], tonumber(args[3])
  for line in io.lines(args[1]) do
    local fields = {}
    for field in (line .. "\t"):gmatch("(.-)\t") do fields[#fields + 1] = field end
    local method, path, body, headers = fields[1], fields[2], fields[3], {}
    for i = 4, #fields, 2 do headers[fields[i]] = fields[i + 1] end
    if body:find(placeholder, 1, true) then
      requests[#requests + 1] = { method = method, path = path, headers = headers, body = body }
    else
      if body == "" then body = nil end
      requests[#requests + 1] = { bytes = wrk.format(method, path, headers, body) }
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
