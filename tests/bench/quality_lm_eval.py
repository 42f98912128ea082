#!/usr/bin/env python3
"""lm-evaluation-harness, unmodified, on toy tasks: of an Attend server (the model
"attend" of client/python/lm_eval_attend.py) and of its own model "hf", on one
checkpoint. Fails if a metric or the answer to any document differs.

    tests/bench/quality_lm_eval.py build/release/server/attend-server

By default on the tiny Llama of tests/golden/evaluation; any directory of a
decoder alone will do. Needs lm-eval[hf] (0.4.13), torch, transformers, and
client/python/requirements.txt.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "client/python"), str(ROOT / "tests/client/python")]

LINES = [case["text"] for case in json.loads(
    (ROOT / "tests/golden/evaluation/evaluation.json").read_text(
        encoding="utf-8"))["rolling"] if case["text"]]
SENTENCES = [" ".join(LINES[-1].split()[i:i + 9]) for i in range(0, 60, 3)]

TASKS = {
    # Which of four words follows, in few shots.
    "toy_choice": """
output_type: multiple_choice
doc_to_text: "{{text}}"
doc_to_target: label
doc_to_choice: choices
num_fewshot: 2
metric_list:
  - {metric: acc}
  - {metric: acc_norm}
""",
    "toy_word": """
output_type: loglikelihood
doc_to_text: "{{text}} "
doc_to_target: "{{choices[label]}}"
metric_list:
  - {metric: perplexity}
  - {metric: acc}
""",
    "toy_text": """
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{text}}"
metric_list:
  - {metric: word_perplexity}
  - {metric: bits_per_byte}
""",
    "toy_answer": """
output_type: generate_until
doc_to_text: "{{text}}"
doc_to_target: "{{choices[label]}}"
generation_kwargs: {until: ["\\n", "z"], max_gen_toks: 10, do_sample: false}
metric_list:
  - {metric: exact_match}
  - {metric: bleu}
""",
}


def write_tasks(folder):
    documents = []
    for i, sentence in enumerate(SENTENCES):
        words = sentence.split()
        choices = [words[-1]] + [SENTENCES[(i + k) % len(SENTENCES)].split()[k]
                                 for k in (2, 5, 7)]
        choices = choices[i % 4:] + choices[:i % 4]
        documents.append({"text": " ".join(words[:-1]), "choices": choices,
                          "label": (4 - i % 4) % 4})
    data = folder / "documents.jsonl"
    data.write_text("".join(json.dumps(document) + "\n"
                            for document in documents), encoding="utf-8")
    for name, task in TASKS.items():
        (folder / f"{name}.yaml").write_text(
            f"task: {name}\ndataset_path: json\ntest_split: test\n"
            f"fewshot_split: test\ndataset_kwargs:\n  data_files: "
            f"{{test: {data}}}\n{task}", encoding="utf-8")


def evaluate(model, arguments, folder):
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager
    return simple_evaluate(
        model=model, model_args=arguments, tasks=list(TASKS), device="cpu",
        task_manager=TaskManager(include_path=str(folder)), bootstrap_iters=0,
        random_seed=1, numpy_random_seed=1, fewshot_random_seed=1)


def answers(result):
    """Of each document of each task: what the model gave for its requests."""
    return {(task, sample["doc_id"]): sample["filtered_resps"]
            for task in TASKS for sample in result["samples"][task]}


def differ(ours, theirs):
    """Numbers differ that are not within f32's rounding; all else if unequal."""
    if isinstance(ours, (list, tuple)):
        return len(ours) != len(theirs) or any(map(differ, ours, theirs))
    if isinstance(ours, float):
        return abs(ours - theirs) > 1e-4 * (1 + abs(theirs))
    return ours != theirs


def compare(ours, theirs):
    failed = 0
    for task in TASKS:
        for metric, value in theirs["results"][task].items():
            if not isinstance(value, float) or "stderr" in metric:
                continue
            mine = ours["results"][task][metric]
            failed += differ(mine, value)
            print(f"{task:12} {metric:22} hf {value:12.6f}  attend {mine:12.6f}")
    ours, theirs = answers(ours), answers(theirs)
    wrong = [key for key in theirs if differ(ours[key], theirs[key])]
    print(f"{len(theirs)} documents, of which {len(wrong)} differ {wrong[:5]}")
    return failed + len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("server")
    parser.add_argument("--model", default=ROOT / "tests/golden/evaluation")
    options = parser.parse_args()
    os.environ.update(ATTEND_SERVER=options.server, HF_DATASETS_OFFLINE="1",
                      TOKENIZERS_PARALLELISM="false")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["HF_DATASETS_CACHE"] = str(folder / "cache")
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc",
                        f"-I{ROOT / 'proto'}", f"--python_out={folder}",
                        f"--grpc_python_out={folder}",
                        "attend/v1/attend.proto"], check=True)
        sys.path.insert(0, name)
        write_tasks(folder)
        from served import ServedTest
        import lm_eval_attend  # noqa: F401, tells the harness of "attend"
        ServedTest.model = options.model
        ServedTest.setUpClass()
        try:
            ours = evaluate("attend", f"address={ServedTest.address}", folder)
        finally:
            ServedTest.tearDownClass()
        theirs = evaluate("hf", f"pretrained={options.model},dtype=float32",
                          folder)
    return 1 if compare(ours, theirs) else 0


if __name__ == "__main__":
    sys.exit(main())
