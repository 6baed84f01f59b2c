"""What packaging/gpu-check leaves in this folder: one JSON a GPU model, into which each call merges its parts, and the Markdown made of it."""
import json
import os
import re

GOOD = ('passed', 'measured')
SETTLED = (*GOOD, 'not applicable')
SPREAD = {'compare': ('batch',), 'equivalence': ('switch', 'precision')}  # parts that calls add rows to, and what tells their rows apart


def state_of(rows):
    """Of a part: one failure makes it failed; nothing run makes it not run."""
    states = {row['state'] for row in rows}
    return 'failed' if 'failed' in states else 'passed' if states & set(GOOD) else 'not run'


def tally(rows):
    states = [row['state'] for row in rows]
    return ', '.join(f'{states.count(state)} {state}' for state in ('passed', 'measured', 'failed', 'not applicable', 'not run') if state in states)


def file_name(gpu):
    return re.sub('[^a-z0-9]+', '-', gpu.lower()).strip('-')


def key_of(row, columns):
    """What tells a row from the others of its part; None for a row that stands for the whole part."""
    return tuple(row[column] for column in columns) if all(column in row for column in columns) else None


def with_earlier(part, earlier, columns):
    """A part may be spread over calls: rows that this call did not get to are kept from an earlier one of the same source, in the order of that one."""
    if earlier['source'] != part['source']:
        return part
    rows = {key_of(row, columns): row for row in earlier['rows']}
    rows.pop(None, None)
    for row in part['rows']:
        key = key_of(row, columns)
        if key is not None and (row['state'] != 'not run' or key not in rows):
            rows[key] = row
    keys = sorted(rows) if columns == SPREAD['compare'] else rows
    return {**part, 'rows': [rows[key] for key in keys] + [row for row in part['rows'] if key_of(row, columns) is None]}


def stored_parts(path):
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return json.load(file)['parts']


def settled(folder, machine, id, source):
    """Keys of the rows of a part that an earlier call of the same source has settled: a failure is tried again."""
    part = stored_parts(json_path(folder, machine)).get(id)
    if part is None or part['source'] != source:
        return set()
    return {key_of(row, SPREAD[id]) for row in part['rows'] if row['state'] in SETTLED} - {None}


def merged(path, machine, parts, again):
    """What is stored of earlier calls, with this call's parts in place."""
    stored = stored_parts(path)
    for id, part in parts.items():
        stored[id] = with_earlier(part, stored[id], SPREAD[id]) if id in SPREAD and id in stored and not again else part
    return {'machine': machine, 'parts': stored}


def cell(value):
    return str(value).replace('|', '\\|').replace('\n', ' ')


def markdown(stored, order):
    machine = stored['machine']
    lines = [f'# {machine["gpu"]}', '', 'Written by `packaging/gpu-check`; [README.md](README.md) says what the parts are and which bars there are.', '',
             '| machine | |', '|---|---|', *(f'| {cell(what)} | {cell(value)} |' for what, value in machine.items())]
    for id in order:
        part = stored['parts'].get(id)
        if part is None:
            lines += ['', f'## {id}', 'not measured yet']
            continue
        columns = list(dict.fromkeys(key for row in part['rows'] for key in row))
        columns.sort(key=lambda column: column in ('state', 'why'))
        lines += ['', f'## {id}: {part["what"]}', f'{tally(part["rows"])}; {part["date"]}, {part["seconds"]} s, source {part["source"]}: `{part["command"]}`', '',
                  f'| {" | ".join(columns)} |', '|' + '---|' * len(columns)]
        lines += [f'| {" | ".join(cell(row.get(column, "")) for column in columns)} |' for row in part['rows']]
    return '\n'.join(lines) + '\n'


def json_path(folder, machine):
    return os.path.join(folder, file_name(machine['gpu']) + '.json')


def write(folder, machine, parts, order, again=False):
    path = json_path(folder, machine).removesuffix('.json')
    stored = merged(path + '.json', machine, parts, again)
    for ending, text in (('.json', json.dumps(stored, indent=1, ensure_ascii=False) + '\n'), ('.md', markdown(stored, order))):
        with open(path + ending + '.part', 'w') as file:
            file.write(text)
        os.replace(path + ending + '.part', path + ending)
    return path + '.md'
