"""The free times of resources, computed minute by minute. Reads JSON from stdin and writes it to stdout."""

import json
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
DAY = timedelta(days=1)
# An interval that began earlier than this is open without end.
LOOK_BACK = 30 * DAY


def time_of(text):
    return datetime.fromisoformat(text.replace('Z', '+00:00'))


def minute_of(time):
    return int(time.timestamp() // 60)


def moment(day, text, zone):
    """The moment of a local time: fold=0 is the first of two, and moves one that does not exist forward."""
    hours, minutes = map(int, text.split(':'))
    local = datetime(day.year, day.month, day.day) + timedelta(hours=hours, minutes=minutes)
    return local.replace(tzinfo=zone, fold=0).astimezone(timezone.utc)


def open_minutes(resource, start, end):
    zone = ZoneInfo(resource['time_zone'])
    exceptions = {one['date']: one['hours'] for one in resource.get('exceptions', [])}
    hours = resource.get('hours') or {}
    minutes = set()
    day = (start - LOOK_BACK).date()
    while day <= (end + 2 * DAY).date():
        for each in exceptions.get(day.isoformat(), hours.get(WEEKDAYS[day.weekday()], [])):
            last = day if each['end'] > each['start'] else day + DAY
            opening, closing = moment(day, each['start'], zone), moment(last, each['end'], zone)
            minutes.update(range(minute_of(opening), minute_of(closing)))
        day += DAY
    return minutes


def free_times(case):
    resource = case['resource']
    start, end = time_of(case['from']), time_of(case['to'])
    minutes = open_minutes(resource, start, end)
    before = timedelta(minutes=resource.get('buffer_before_minutes', 0))
    after = timedelta(minutes=resource.get('buffer_after_minutes', 0))
    length = timedelta(minutes=case['duration_minutes'])
    step = case['step_minutes']
    busy = [(time_of(a) - before, time_of(b) + after) for a, b in case['busy']]
    zone = ZoneInfo(resource['time_zone'])
    found = []
    opening = None
    for minute in range(min(minutes, default=0), minute_of(end)):
        if minute not in minutes:
            opening = None
            continue
        if opening is None:
            opening = minute
        if (minute - opening) % step != 0:
            continue
        begin = datetime.fromtimestamp(minute * 60, timezone.utc)
        if begin < start or begin + length > end:
            continue
        if any(minute + n not in minutes for n in range(case['duration_minutes'])):
            continue
        if any(a < begin + length + after and b > begin - before for a, b in busy):
            continue
        local = begin.astimezone(zone).isoformat(timespec='milliseconds')
        found.append(local)
    return found


json.dump([free_times(case) for case in json.load(sys.stdin)], sys.stdout)
