"""lm-eval, Inspect, HELM, OpenAI evals, OpenCompass, lighteval, MMLU-Pro: made by our own code."""

from __future__ import annotations

import io
import json

import numpy as np

from formats.quiz import Made, jsonl_bytes, quiz, zip_bytes

MODELS = ("model-a", "model-b", "model-c", "model-d")
TIME = "2026-01-31T12-30-00.123456"


def _quiz(seed: int, n_items: int = 8):
    return quiz(seed, n_persons=4, n_items=n_items, blank=0.0)


def _hash(k: int) -> str:
    return f"{k:02d}" + "ab" * 31


def _answers(q, item):
    return {(MODELS[i], item(k)): q.answer(i, k) for i in range(4) for k in range(len(q.stems))}


def _sample(q, i: int, k: int, *, text: bool = True, doubled: bool = False) -> dict:
    """A multiple-choice record; numbers as text since 0.4.4."""
    values = [-3.0 - j for j in range(4)]
    values[int(q.chosen[i, k])] = -0.5
    pairs = [[str(v), str(v == -0.5)] if text else [v, v == -0.5] for v in values]
    if doubled:
        pairs += [["-0.1" if j == 0 else "-9", "False"] for j in range(4)]
    arguments = {f"gen_args_{j}": {"arg_0": "ctx", "arg_1": f" {'ABCD'[j]}"} for j in range(4)}
    record = {"doc_id": k, "doc": {"question": q.stems[k], "choices": q.options[k]}}
    record |= {"target": str(q.right[k]) if text else q.right[k], "arguments": arguments}
    record |= {"resps": [[pair] for pair in pairs], "filtered_resps": pairs, "filter": "none"}
    record |= {"metrics": ["acc", "acc_mutual_info"] if doubled else ["acc"], "doc_hash": _hash(k)}
    return record | {"acc": float(q.points(i, k))}


def lm_eval(kind: str = "folders") -> Made:
    """Log-likelihoods as text; appended runs; the doubled list; flat folders."""
    q = _quiz(41)
    files = {}
    for i, model in enumerate(MODELS):
        records = [_sample(q, i, k, doubled=kind == "mutual") for k in range(8)]
        if kind == "appended":
            records = [*records[4:], *records]
        if kind == "flat":
            time = TIME.replace("12-30", f"1{i}-30")
            files[f"samples_colours_{time}.jsonl"] = jsonl_bytes(records)
            results = {"results": {"colours": {"acc": 0.5}}, "configs": {}, "versions": {}}
            files[f"results_{time}.json"] = json.dumps(results | {"model_name": model}).encode()
        else:
            files[f"out/{model}/samples_colours_{TIME}.jsonl"] = jsonl_bytes(records)
    answers = _answers(q, lambda k: f"colours/{_hash(k)[:12]}")
    key = {f"colours/{_hash(k)[:12]}": q.key(k) for k in range(8)}
    left_out = ("exact copies",) if kind == "appended" else ()
    return Made(files, answers, key, left_out=left_out)


def lm_eval_wrong_targets() -> Made:
    """The targets do not give the stored accuracy: then they are no key."""
    made, q = lm_eval(), _quiz(41)
    files = {}
    for i, model in enumerate(MODELS):
        records = [_sample(q, i, k) for k in range(8)]
        for record in records:
            record["acc"] = 1.0 - record["acc"]
        files[f"out/{model}/samples_colours_{TIME}.jsonl"] = jsonl_bytes(records)
    return Made(files, made.answers, {}, left_out=("not used as a key",))


def lm_eval_old() -> Made:
    """0.4.0: one JSON array, no hashes, numbers as numbers, the model in the name of the file."""
    q = _quiz(42)
    files = {}
    for i, model in enumerate(MODELS):
        records = [_sample(q, i, k, text=False) for k in range(8)]
        for record in records:
            del record["doc_hash"], record["filter"], record["metrics"]
            record["arguments"] = [["ctx", f" {letter}"] for letter in "ABCD"]
        files[f"pretrained__lab__{model}_colours.jsonl"] = json.dumps(records, indent=2).encode()
    results = {"results": {"colours": {"acc": 0.5}}, "config": {"model": "hf"}, "versions": {}}
    files["results.json"] = json.dumps(results).encode()
    from hitsndiffs.reading.exports.common import short_hash

    docs = [{"question": q.stems[k], "choices": q.options[k]} for k in range(8)]
    names = [f"colours/{short_hash(json.dumps(doc, sort_keys=True))}" for doc in docs]
    answers = {(f"lab/{MODELS[i]}", names[k]): q.answer(i, k) for i in range(4) for k in range(8)}
    return Made(files, answers, {names[k]: q.key(k) for k in range(8)})


def lm_eval_winogrande() -> Made:
    """The options differ in the context; the target is a text; the accuracy tells the right one."""
    rng = np.random.default_rng(43)
    right, files, answers = rng.integers(2, size=8), {}, {}
    for i, model in enumerate(MODELS):
        records = []
        for k in range(8):
            chosen = int(right[k]) if rng.random() < 0.9 - 0.2 * i else 1 - int(right[k])
            doc = {"sentence": f"The _ was big {k}.", "option1": f"cup {k}", "option2": f"pot {k}"}
            args = {
                f"gen_args_{j}": {"arg_0": f"The {['cup', 'pot'][j]}", "arg_1": " was big."}
                for j in (0, 1)
            }
            pairs = [["-1.0" if j == chosen else "-2.0", "False"] for j in (0, 1)]
            record = {
                "doc_id": k,
                "doc": doc,
                "target": " was big.",
                "arguments": args,
                "resps": [],
            }
            record |= {"filtered_resps": pairs, "filter": "none", "doc_hash": _hash(k)}
            records.append(record | {"acc": float(chosen == right[k])})
            answers[model, f"winogrande/{_hash(k)[:12]}"] = f"{['cup', 'pot'][chosen]} {k}"
        files[f"{model}/samples_winogrande_{TIME}.jsonl"] = jsonl_bytes(records)
    key = {f"winogrande/{_hash(k)[:12]}": f"{['cup', 'pot'][right[k]]} {k}" for k in range(8)}
    return Made(files, answers, key)


def lm_eval_generated() -> Made:
    """Letters that were generated: two filters, `[invalid]`, letters that are no options."""
    q = _quiz(44)
    files, answers = {}, {}
    for i, model in enumerate(MODELS):
        records = []
        for k in range(8):
            text = q.letter(i, k)
            if (i, k) == (1, 1):
                text = "[invalid]"
            elif (i, k) == (2, 2):
                text = "T"
            else:
                answers[model, f"mc/{_hash(k)[:12]}"] = text
            base = {"doc_id": k, "doc": {"question": q.stems[k], "options": q.options[k]}}
            base |= {"target": q.key_letter(k), "arguments": {}, "resps": [["Let me see"]]}
            base |= {"doc_hash": _hash(k), "exact_match": float(q.points(i, k))}
            records.append(base | {"filter": "strict-match", "filtered_resps": ["[invalid]"]})
            records.append(
                base
                | {
                    "filter": "flexible-extract",
                    "filtered_resps": [f" ({text}) " if len(text) == 1 else text],
                }
            )
        files[f"{model}/samples_mc_{TIME}.jsonl"] = jsonl_bytes(records)
    key = {f"mc/{_hash(k)[:12]}": q.key_letter(k) for k in range(8)}
    return Made(files, answers, key, left_out=("other filters",))


def lm_eval_free() -> Made:
    records = [
        {
            "doc_id": k,
            "doc": {"problem": f"p{k}"},
            "target": str(k),
            "arguments": {},
            "resps": [[""]],
        }
        | {"filtered_resps": ["The answer is found like this: " * 5 + str(k)], "doc_hash": _hash(k)}
        for k in range(8)
    ]
    return Made({f"samples_math_{TIME}.jsonl": jsonl_bytes(records)}, refused="generated texts")


def lm_eval_perplexity() -> Made:
    """One log-likelihood per text, and no options."""
    records = [
        {"doc_id": k, "doc": {"text": f"t{k}"}, "target": "x", "arguments": {}, "resps": []}
        | {"filtered_resps": [[f"-{k + 1}.25", "False"]], "doc_hash": _hash(k), "acc": 0.0}
        for k in range(8)
    ]
    return Made({f"samples_lambada_{TIME}.jsonl": jsonl_bytes(records)}, refused="perplexities")


def lm_eval_results() -> Made:
    results = {"results": {"colours": {"acc": 0.5}}, "configs": {}, "versions": {}, "n-shot": {}}
    return Made({f"results_{TIME}.json": json.dumps(results).encode()}, refused="scores per task")


# -- Inspect -------------------------------------------------------------------------------------


def _inspect_sample(q, i: int, k: int, epoch: int = 1) -> dict:
    chosen, right = q.letter(i, k), q.key_letter(k)
    score = {"value": "C" if chosen == right else "I", "answer": chosen, "explanation": "…"}
    sample = {"id": k + 1, "epoch": epoch, "input": q.stems[k], "choices": q.options[k]}
    return sample | {"target": right, "scores": {"choice": score}, "metadata": {}}


def _inspect_log(model: str, samples: list) -> dict:
    about = {"task": "colours", "model": f"lab/{model}", "dataset": {"samples": len(samples)}}
    log = {"version": 2, "status": "success", "eval": about, "plan": {}, "results": {}, "stats": {}}
    return log | {"samples": samples}


def _inspect_names(q):
    from hitsndiffs.reading.exports.common import short_hash

    return [f"colours/{k + 1}-{short_hash(stem)}" for k, stem in enumerate(q.stems)]


def _inspect_truth(q, missing=()):
    names = _inspect_names(q)
    answers = {
        (f"lab/{MODELS[i]}", names[k]): q.answer(i, k)
        for i in range(4)
        for k in range(8)
        if (i, k) not in missing
    }
    return answers, {names[k]: q.key(k) for k in range(8)}


def inspect_json() -> Made:
    """`value` C and I are no options; bare NaN; one log has its choices in another order."""
    q = _quiz(45)
    files = {}
    for i, model in enumerate(MODELS):
        samples = [_inspect_sample(q, i, k) for k in range(8)]
        if i == 2:
            for sample in samples:
                order = [2, 0, 3, 1]
                sample["choices"] = [sample["choices"][j] for j in order]
                for place, name in ((sample, "target"), (sample["scores"]["choice"], "answer")):
                    place[name] = "ABCD"[order.index("ABCD".index(place[name]))]
        if i == 3:
            samples[5]["scores"]["choice"] |= {"value": float("nan"), "answer": ""}
        files[f"{model}.json"] = json.dumps(_inspect_log(model, samples), indent=1).encode()
    answers, key = _inspect_truth(q, missing=[(3, 5)])
    return Made(files, answers, key)


def inspect_eval(kind: str = "zstd") -> Made:
    """.eval archives: entries packed with zstd (method 93); two epochs; also without summaries."""
    q = _quiz(46)
    files = {}
    for i, model in enumerate(MODELS):
        samples = [_inspect_sample(q, i, k) for k in range(8)]
        other = [_inspect_sample(q, (i + 1) % 4, k, epoch=2) for k in range(8)]
        log = _inspect_log(model, [])
        del log["samples"]
        members = {
            "_journal/start.json": json.dumps(log).encode(),
            "header.json": json.dumps(log).encode(),
        }
        for sample in [*samples, *other]:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            members[name] = json.dumps(sample).encode()
        if kind == "zstd":
            members["summaries.json"] = json.dumps([*samples, *other]).encode()
            files[f"2026-01-01_{model}.eval"] = zstd_zip(members)
        else:
            files[f"2026-01-01_{model}.eval"] = zip_bytes(members)
    answers, key = _inspect_truth(q)
    return Made(files, answers, key, left_out=("attempt",))


def zstd_zip(members: dict[str, bytes]) -> bytes:
    """A zip archive with zstd inside (method 93), several frames per entry."""
    import struct
    import zlib

    import zstandard

    out, directory = io.BytesIO(), b""
    packer = zstandard.ZstdCompressor(level=3)
    for name, data in members.items():
        half = len(data) // 2
        packed = packer.compress(data[:half]) + packer.compress(data[half:])
        head = struct.pack(
            "<HHHHHIIIHH",
            63,
            0,
            93,
            0,
            0x21,
            zlib.crc32(data),
            len(packed),
            len(data),
            len(name),
            0,
        )
        place = out.tell()
        out.write(b"PK\x03\x04" + head + name.encode() + packed)
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + head
        directory += struct.pack("<HHHII", 0, 0, 0, 0, place) + name.encode()
    start = out.tell()
    count = len(members)
    out.write(directory)
    out.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), start, 0))
    return out.getvalue()


# -- the others ----------------------------------------------------------------------------------


def helm(kind: str = "display") -> Made:
    """Run folders: with display files, or the completions through output_mapping (" D")."""
    q = _quiz(47)
    files = {}
    scenario = "mmlu:subject=colours"
    for i, model in enumerate(MODELS):
        run = f"{scenario},method=multiple_choice_joint,model=lab_{model}"
        folder = f"runs/v1/{run.replace('/', '_')}"
        spec = {
            "name": run,
            "adapter_spec": {"model": f"lab/{model}", "method": "multiple_choice_joint"},
        }
        instances, shown, states = [], [], []
        for k in range(8):
            references = [
                {"output": {"text": o}, "tags": ["correct"] if j == q.right[k] else []}
                for j, o in enumerate(q.options[k])
            ]
            instance = {"id": f"id{k}", "input": {"text": q.stems[k]}, "references": references}
            instances.append(instance)
            row = {
                "instance_id": f"id{k}",
                "train_trial_index": 0,
                "predicted_text": q.letter(i, k),
            }
            if (i, k) != (1, 3):  # an unmapped letter: the field is not there
                row["mapped_output"] = q.answer(i, k)
            shown.append(row | {"stats": {"exact_match": float(q.points(i, k))}})
            state = {"instance": instance, "train_trial_index": 0, "request_mode": "original"}
            state["output_mapping"] = {letter: q.options[k][j] for j, letter in enumerate("ABCD")}
            text = " X" if (i, k) == (1, 3) else f" {q.letter(i, k)}"
            states.append(state | {"result": {"completions": [{"text": text, "logprob": -1.0}]}})
        perturbed = shown[0] | {"perturbation": {"name": "typos"}, "mapped_output": "Nothing"}
        files[f"{folder}/run_spec.json"] = json.dumps(spec).encode()
        if kind == "display":
            files[f"{folder}/instances.json"] = json.dumps(instances).encode()
            files[f"{folder}/display_predictions.json"] = json.dumps([*shown, perturbed]).encode()
        else:
            state = {"adapter_spec": spec["adapter_spec"], "request_states": states}
            files[f"{folder}/scenario_state.json"] = json.dumps(state).encode()
    answers = {
        (f"lab/{MODELS[i]}", f"{scenario}/id{k}"): q.answer(i, k)
        for i in range(4)
        for k in range(8)
        if (i, k) != (1, 3)
    }
    return Made(files, answers, {f"{scenario}/id{k}": q.key(k) for k in range(8)})


def openai_evals() -> Made:
    """Events out of order; an eval without options, whose wrong answers are only in `sampled`."""
    q = _quiz(48)
    rng = np.random.default_rng(48)
    files = {}
    for i, model in enumerate(MODELS):
        events = []
        for k in range(8):
            right = q.points(i, k)
            data = {"correct": bool(right), "expected": q.key_letter(k), "sampled": q.letter(i, k)}
            data |= {"picked": q.letter(i, k) if right else None, "options": [q.key_letter(k)]}
            event = {"run_id": "r", "event_id": k, "sample_id": f"colours.dev.{k}", "type": "match"}
            events.append(event | {"data": data})
        events = [events[k] for k in rng.permutation(8)]
        spec = {
            "spec": {"completion_fns": [model], "eval_name": "colours.dev.v0", "run_config": {}}
        }
        report = {"final_report": {"accuracy": 0.5}}
        files[f"run_{i}.jsonl"] = jsonl_bytes([spec, *events[:4], report, *events[4:]])
    answers = {(MODELS[i], f"colours.dev.{k}"): q.letter(i, k) for i in range(4) for k in range(8)}
    return Made(files, answers, {f"colours.dev.{k}": q.key_letter(k) for k in range(8)})


def opencompass(kind: str = "ppl") -> Made:
    """Predictions by perplexity in two shards (gold 0 is missing), or results with details."""
    q = _quiz(49)
    files = {}
    for i, model in enumerate(MODELS):
        entries = []
        for k in range(8):
            entry: dict = {"origin_prompt": q.stems[k]}
            for j, letter in enumerate("ABCD"):
                entry[f"label: {letter}"] = {"testing input": "", "prompt": "", "PPL": 1.0 + j}
            entry |= {"prediction": q.letter(i, k)}
            if q.right[k]:
                entry["gold"] = q.key_letter(k)
            entries.append(entry)
        if kind == "ppl":
            for shard, part in enumerate((entries[:5], entries[5:])):
                data = {str(n): entry for n, entry in enumerate(part)}
                files[f"predictions/{model}/colours_{shard}.json"] = json.dumps(data).encode()
        else:
            details = {"type": "GEN"} | {
                str(k): {
                    "prompt": q.stems[k],
                    "origin_prediction": "Well …",
                    "predictions": q.letter(i, k),
                }
                | {"references": q.key_letter(k), "correct": bool(q.points(i, k))}
                for k in range(8)
            }
            data = {"accuracy": 50.0, "details": details}
            files[f"results/{model}/colours.json"] = json.dumps(data).encode()
    answers = {(MODELS[i], f"colours/{k}"): q.letter(i, k) for i in range(4) for k in range(8)}
    key = {f"colours/{k}": q.key_letter(k) for k in range(8) if q.right[k] or kind != "ppl"}
    return Made(files, answers, key)


def lighteval(kind: str = "new") -> Made:
    """Structs (0.11 and later), flat columns, or every cell as the text of a Python value."""
    import polars as pl

    from hitsndiffs.reading.exports.common import short_hash

    q = _quiz(50)
    files = {}
    task = "leaderboard|colours|5"
    for i, model in enumerate(MODELS):
        rows = []
        for k in range(8):
            values = [-3.0 - j for j in range(4)]
            values[int(q.chosen[i, k])] = -0.5
            doc = {"query": q.stems[k], "choices": q.options[k], "gold_index": [q.right[k]]}
            if kind == "new":
                response = {"text": [""], "logprobs": values}
                rows.append(
                    {"doc": doc, "model_response": response, "metric": {"acc": q.points(i, k)}}
                )
                continue
            row = {"example": q.stems[k], "full_prompt": q.stems[k], "choices": q.options[k]}
            row |= {"gold_index": [q.right[k]], "predictions": values, "metrics": {"acc": 1}}
            rows.append(
                row
                if kind == "flat"
                else {
                    name: repr(v)
                    if name in ("choices", "gold_index", "predictions", "metrics")
                    else v
                    for name, v in row.items()
                }
            )
        out = io.BytesIO()
        pl.DataFrame(rows).write_parquet(out)
        name = f"details_{task}_{TIME}.parquet"
        files[f"details/lab/{model}/{TIME}/{name}"] = out.getvalue()
    names = [f"{task}/{short_hash(q.stems[k] + ''.join(q.options[k]))}" for k in range(8)]
    answers = {(f"lab/{MODELS[i]}", names[k]): q.answer(i, k) for i in range(4) for k in range(8)}
    return Made(files, answers, {names[k]: q.key(k) for k in range(8)})


def mmlu_pro(zipped: bool = False) -> Made:
    """`pred` null, a letter beyond the options, stray strings, an answer that is not its index."""
    q = _quiz(51)
    files, answers = {}, {}
    for i, model in enumerate(MODELS):
        records: list = []
        for k in range(8):
            record = {"question_id": 70 + k, "question": q.stems[k], "options": q.options[k]}
            record |= {"answer": q.key_letter(k), "answer_index": q.right[k], "cot_content": ""}
            record |= {"pred": q.letter(i, k), "model_outputs": "The answer is …"}
            if (i, k) == (0, 3):
                record["pred"] = None
            elif (i, k) == (1, 4):
                record["pred"] = "J"
            else:
                answers[model, str(70 + k)] = q.letter(i, k)
            records.append(record)
        if i == 2:
            records.insert(0, "a stray string")
        name, data = f"model_outputs_{model}_5shots", json.dumps(records).encode()
        files[f"{name}.zip" if zipped else f"{name}.json"] = (
            zip_bytes({f"{name}.json": data}) if zipped else data
        )
    return Made(files, answers, {str(70 + k): q.key_letter(k) for k in range(8)})


def predictions(kind: str = "parquet") -> Made:
    """One name of file in all folders of models; ids that begin anew; a missing answer."""
    import io

    import polars as pl

    q = quiz(91, n_items=12, blank=0.0)
    topics = ["law"] * 6 + ["art"] * 6
    files, answers, key = {}, {}, {}
    for i in range(4):
        rows = []
        for k in range(12):
            said = int(q.chosen[i, k]) if (i, k) != (3, 5) else -1
            row = {
                "subject": topics[k],
                "id": k % 6,
                "answer": q.right[k],
                "predicted": float(said),
            }
            rows.append({**row, "question": q.stems[k], "choices": q.options[k]})
            item = f"{topics[k]}/{k % 6}"
            key[item] = str(q.right[k])
            if said >= 0:
                answers[f"model-{i}_logs", item] = str(said)
        if kind == "parquet":
            out = io.BytesIO()
            pl.DataFrame(rows).write_parquet(out)
            files[f"model-{i}_logs/baseline/results.parquet"] = out.getvalue()
        else:
            for topic in ("law", "art"):
                own = [row for row in rows if row["subject"] == topic]
                files[f"model-{i}_logs/{topic}.json"] = json.dumps(
                    {"acc": 0.5, "results": own}
                ).encode()
    if kind == "topics":  # the ids of a file are its own
        files = {
            name: data.replace(b'"id": ', b'"id": "' + name[13:16].encode() + b"-")
            for name, data in files.items()
        }
        files = {name: data.replace(b', "answer"', b'", "answer"') for name, data in files.items()}
        answers = {(u, i.replace("/", "-")): a for (u, i), a in answers.items()}
        key = {i.replace("/", "-"): a for i, a in key.items()}
    return Made(files, answers, key)


def predictions_letters() -> Made:
    """Right answers are letters; models write them with the option's text, or the text alone."""
    from formats.quiz import csv_bytes

    q = _quiz(94, 12)
    files, answers = {}, {}
    for i in range(4):
        rows = [["index", "question", *"ABCD", "answer", "prediction"]]
        for k in range(12):
            letter, text = q.letter(i, k), q.answer(i, k)
            said = (letter, f"{letter}. {text}", f"({letter})", text)[(i + k) % 4]
            rows.append([k, q.stems[k], *q.options[k], q.key_letter(k), said])
            answers[f"model-{i}", str(k)] = letter
        files[f"model-{i}.tsv"] = csv_bytes(rows, separator="\t")
    return Made(files, answers, {str(k): q.key_letter(k) for k in range(12)})


def predictions_by_id() -> Made:
    """A file per model and topic, in which the ids begin anew, and nothing names the topic."""
    q = quiz(93, n_items=12, blank=0.0)
    files, answers, key = {}, {}, {}
    for i in range(4):
        for t, topic in enumerate(("art", "law")):
            own = {}
            for k in range(6):
                said, right = q.letter(i, 6 * t + k), q.key_letter(6 * t + k)
                own[f"{k}"] = {"pred": said, "gt": right, "raw": f"I say {said}, as {i}{k}{topic}"}
                answers[f"model-{i}", f"{topic}/{k}"], key[f"{topic}/{k}"] = said, right
            files[f"model-{i}/{topic}.json"] = json.dumps(own).encode()
    return Made(files, answers, key)


def answers_by_id(key_file: str = "") -> Made:
    """An object of letters per model, under one file name; perhaps with the key beside."""
    q = quiz(92, n_items=12, blank=0.0)
    names = [f"validation_Art_{k + 1}" for k in range(12)]
    files, answers, key = {}, {}, {}
    for i in range(5):
        own = {name: q.letter(i, k) for k, name in enumerate(names)}
        files[f"model-{i}/total_output.json"] = json.dumps(own, indent=4).encode()
        answers |= {(f"model-{i}", name): letter for name, letter in own.items()}
    if key_file:
        key = {name: q.key_letter(k) for k, name in enumerate(names)}
        right = {name: {"type": "choice", "ground_truth": letter} for name, letter in key.items()}
        own = key if key_file == "letters" else right
        files[f"{'answer_key' if own is key else 'all_val'}.json"] = json.dumps(own).encode()
    return Made(files, answers, key)
