-- Sends the requests of a file in turn and prints a summary as one line of JSON.
-- Arguments: the file, with method, path, body and the names and values of headers in each line,
-- separated by tabs; the placeholder for the number of the request in bodies and headers; and the first
-- number, which has as many characters as the placeholder.
local requests, turn, number, placeholder = {}, 0, 0, ""

function init(args)
  placeholder, number = args[2], tonumber(args[3])
  for line in io.lines(args[1]) do
    local fields = {}
    for field in (line .. "\t"):gmatch("(.-)\t") do fields[#fields + 1] = field end
    local method, path, body, headers = fields[1], fields[2], fields[3], {}
    for i = 4, #fields, 2 do headers[fields[i]] = fields[i + 1] end
    if body == "" then body = nil end
    local bytes = wrk.format(method, path, headers, body)
    local numbered = bytes:find(placeholder, 1, true) ~= nil
    requests[#requests + 1] = { bytes = bytes, numbered = numbered }
  end
end

function request()
  turn = turn % #requests + 1
  local next = requests[turn]
  if not next.numbered then return next.bytes end
  local bytes = next.bytes:gsub(placeholder, number)
  number = number + 1
  return bytes
end

function done(summary, latency)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, errors.status, broken))
end
