"""What packaging/gpu-check leaves in this folder: one JSON a GPU model, into which each call merges its parts, and the Markdown made of it."""
import json
import os
import re

GOOD = ('passed', 'measured')


def state_of(rows):
    """Of a part: one failure makes it failed; nothing run makes it not run."""
    states = {row['state'] for row in rows}
    return 'failed' if 'failed' in states else 'passed' if states & set(GOOD) else 'not run'


def tally(rows):
    states = [row['state'] for row in rows]
    return ', '.join(f'{states.count(state)} {state}' for state in ('passed', 'measured', 'failed', 'not applicable', 'not run') if state in states)


def file_name(gpu):
    return re.sub('[^a-z0-9]+', '-', gpu.lower()).strip('-')


def with_earlier(part, earlier):
    """A comparison may be spread over calls (--batches): batches that this call did not measure are kept from an earlier one of the same source."""
    if earlier['source'] != part['source']:
        return part
    rows = {row['batch']: row for row in earlier['rows'] if 'batch' in row}
    rows |= {row['batch']: row for row in part['rows'] if 'batch' in row and (row['state'] != 'not run' or row['batch'] not in rows)}
    return {**part, 'rows': [rows[batch] for batch in sorted(rows)] + [row for row in part['rows'] if 'batch' not in row]}


def merged(path, machine, parts):
    """What is stored of earlier calls, with this call's parts in place."""
    stored = {}
    if os.path.exists(path):
        with open(path) as file:
            stored = json.load(file)['parts']
    for id, part in parts.items():
        stored[id] = with_earlier(part, stored[id]) if id == 'compare' and id in stored else part
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


def write(folder, machine, parts, order):
    path = os.path.join(folder, file_name(machine['gpu']))
    stored = merged(path + '.json', machine, parts)
    for ending, text in (('.json', json.dumps(stored, indent=1, ensure_ascii=False) + '\n'), ('.md', markdown(stored, order))):
        with open(path + ending + '.part', 'w') as file:
            file.write(text)
        os.replace(path + ending + '.part', path + ending)
    return path + '.md'
