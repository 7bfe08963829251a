# Evaluates filters over records as docs/contract/filters.md describes them, record by record. It shares no code with the
# server. Reads {"records": {"leads": [...], ...}, "filters": [{"record", "filter", "by"}]} and prints the ids that each
# selects, and how many of the selected records have each value of the field `by`.
import json
import re
import sys
import unicodedata
from collections import Counter
from datetime import datetime, timezone

NAMES = {"first_name", "last_name", "company", "city", "zip", "type", "location", "title"}
TIMES = {"created_at", "updated_at", "start_time", "end_time", "due_date"}
UNDECOMPOSED = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}


def fold(text):
    text = "".join(c for c in text if unicodedata.category(c) != "Cf" and c not in "\u034f\ufe0f")
    text = re.sub("[`´‘’‚‛′ʼʻ]", "'", unicodedata.normalize("NFC", text))
    text = unicodedata.normalize("NFKD", text).lower().upper().lower().replace("ς", "σ")
    text = unicodedata.normalize("NFKD", text)
    kept = []
    follows_letter = False
    for c in text:
        if unicodedata.category(c)[0] == "M":
            if not follows_letter:
                kept.append(c)
            continue
        name = unicodedata.name(c, "")
        follows_letter = name.split(" ")[0] in ("LATIN", "GREEK", "CYRILLIC")
        kept.append(UNDECOMPOSED.get(c, c))
    text = re.sub("[“”„«»]", '"', "".join(kept))
    text = "".join("-" if unicodedata.category(c) == "Pd" or c == "−" else c for c in text)
    text = re.sub(r"[\s\u00a0\u2000-\u200a\u3000]+", " ", text)
    text = "".join(str(unicodedata.digit(c)) if unicodedata.category(c) == "Nd" else c for c in text)
    return unicodedata.normalize("NFC", text)


def digits(text):
    return re.sub("[^0-9]", "", fold(text))


def normal_phone(text):
    number, _, extension = text.lower().replace("ext.", "x").partition("x")
    number = digits(number)
    if len(number) == 11 and number.startswith("1"):
        number = number[1:]
    return number + "x" + digits(extension)


def normal_email(text):
    return unicodedata.normalize("NFC", text.strip().lower())


def instant(text):
    text = text if "T" in text else text + "T00:00:00Z"
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def json_type(value):
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def comparable(field, value):
    if field == "email":
        return normal_email(value)
    if field == "phone":
        return normal_phone(value)
    if field in TIMES:
        return instant(value)
    return value


def equal(field, stored, wanted):
    if json_type(stored) != json_type(wanted) or isinstance(stored, (list, dict)):
        return False
    return comparable(field, stored) == comparable(field, wanted)


def condition(record, field, operator, wanted):
    custom = field.startswith("custom_fields.")
    stored = record["custom_fields"].get(field[14:]) if custom else record[field]
    empty = stored is None or (not custom and stored in ([], {}))
    if operator == "is_empty":
        return empty == wanted
    if operator in ("ne", "not_in", "has_none"):
        positive = {"ne": "eq", "not_in": "in", "has_none": "has_any"}[operator]
        return not condition(record, field, positive, wanted)
    if operator == "eq" and wanted is None:
        return empty
    if empty:
        return False
    if operator == "eq":
        return equal(field, stored, wanted)
    if operator == "in":
        return any(equal(field, stored, each) for each in wanted)
    if operator in ("has", "has_any"):
        tags = [tag.lower() for tag in stored]
        return any(each.lower() in tags for each in ([wanted] if operator == "has" else wanted))
    if operator in ("contains", "starts_with"):
        form = digits if field == "phone" else fold
        text, part = form(stored), form(wanted)
        return part in text if operator == "contains" else text.startswith(part)
    if json_type(stored) != json_type(wanted):
        return False
    one, other = comparable(field, stored), comparable(field, wanted)
    return {"gt": one > other, "gte": one >= other, "lt": one < other, "lte": one <= other}[operator]


class Evaluation:
    def __init__(self, records):
        self.records = records

    def matches(self, record, given):
        return all(self.part(record, key, value) for key, value in given.items())

    def part(self, record, key, value):
        if key == "and":
            return all(self.matches(record, each) for each in value)
        if key == "or":
            return any(self.matches(record, each) for each in value)
        if key == "not":
            return not self.matches(record, value)
        if key in ("tasks", "appointments"):
            column = "contact_id" if key == "tasks" else "lead_id"
            related = [each for each in self.records[key] if each[column] == record["id"]]
            found = {
                quantity: any(self.matches(each, inner) for each in related) == (quantity == "some")
                for quantity, inner in value.items()
            }
            return all(found.values())
        if key == "lead":
            id = record.get("contact_id", record.get("lead_id"))
            return any(each["id"] == id and self.matches(each, value) for each in self.records["leads"])
        operators = value if isinstance(value, dict) else {"eq": value}
        return all(condition(record, key, *each) for each in operators.items())


def counts(records, by):
    field = {"tag": "tags", "assigned_to": "assigned_to_user_id"}.get(by, by)
    found = Counter()
    for record in records:
        value = record[field]
        found.update((value or [None]) if field == "tags" else [value])
    # JSON has no order of objects: pairs of a value and its count, the largest first, then by code point and null last.
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0] is None, pair[0] or ""))


question = json.load(sys.stdin)
evaluation = Evaluation(question["records"])
answers = []
for each in question["filters"]:
    records = question["records"][each["record"]]
    selected = [record for record in records if evaluation.matches(record, each["filter"])]
    answers.append({"ids": [record["id"] for record in selected], "counts": counts(selected, each["by"])})
json.dump(answers, sys.stdout)
