#!/usr/bin/env python3
"""lm-evaluation-harness, unmodified, on toy tasks and one checkpoint: of an Attend
server, by gRPC (the model "attend" of client/python's attend.lm_eval) and by
OpenAI's API (the harness' "local-completions" and "local-chat-completions"),
against the harness' own model "hf". Fails if a metric or the answer to any
document differs.

    tests/bench/quality_lm_eval.py build/release/server/attend-server

By default on the tiny Llama of tests/golden/evaluation; any directory of a
decoder alone will do; --chat=no if it has no chat template. Needs
lm-eval[hf,api] (0.4.13), torch, transformers, and ./client/python.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/conformance"))

LINES = [case["text"] for case in json.loads(
    (ROOT / "tests/golden/evaluation/evaluation.json").read_text(
        encoding="utf-8"))["rolling"] if case["text"]]
SENTENCES = [" ".join(LINES[-1].split()[i:i + 9]) for i in range(0, 60, 3)]

# Which of four words follows.
CHOICE = """
output_type: multiple_choice
doc_to_text: "{{text}}"
doc_to_target: label
doc_to_choice: choices
metric_list:
  - {metric: acc}
  - {metric: acc_norm}
num_fewshot: """

TASKS = {
    "toy_choice": f"{CHOICE}0",
    # Too long for the tiny Llama: the context is cut.
    "toy_shots": f"{CHOICE}2",
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


def evaluate(model, arguments, folder, tasks, chat=False):
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager
    return simple_evaluate(
        model=model, model_args=arguments, tasks=tasks, device="cpu",
        task_manager=TaskManager(include_path=str(folder)), bootstrap_iters=0,
        apply_chat_template=chat, random_seed=1, numpy_random_seed=1,
        fewshot_random_seed=1)


def answers(result):
    """Of each document of each task: what the model gave for its requests."""
    return {(task, sample["doc_id"]): sample["filtered_resps"]
            for task, samples in result["samples"].items()
            for sample in samples}


def differ(ours, theirs):
    """Numbers differ that are not within f32's rounding; all else if unequal."""
    if isinstance(ours, (list, tuple)):
        return len(ours) != len(theirs) or any(map(differ, ours, theirs))
    if isinstance(ours, float):
        return abs(ours - theirs) > 1e-4 * (1 + abs(theirs))
    return ours != theirs


def compare(name, ours, theirs):
    failed = 0
    for task, metrics in ours["results"].items():
        for metric, mine in metrics.items():
            if not isinstance(mine, float) or "stderr" in metric:
                continue
            value = theirs["results"][task][metric]
            failed += differ(mine, value)
            print(f"{task:12} {metric:22} hf {value:12.6f}  "
                  f"{name} {mine:12.6f}")
    ours, theirs = answers(ours), answers(theirs)
    wrong = [key for key in ours if differ(ours[key], theirs[key])]
    print(f"{name}: {len(ours)} documents, of which {len(wrong)} differ "
          f"{wrong[:5]}")
    return failed + len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("server")
    parser.add_argument("--model", default=ROOT / "tests/golden/evaluation")
    parser.add_argument("--chat", default="yes", choices=["yes", "no"])
    options = parser.parse_args()
    os.environ.update(ATTEND_SERVER=options.server, HF_DATASETS_OFFLINE="1",
                      TOKENIZERS_PARALLELISM="false")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["HF_DATASETS_CACHE"] = str(folder / "cache")
        write_tasks(folder)
        from served import Server
        import attend.lm_eval  # noqa: F401, tells the harness of "attend"
        server = Server({"model": options.model})
        url = f"http://127.0.0.1:{server.http_port}/v1"
        hf = f"pretrained={options.model},dtype=float32"
        api = f"model=model,tokenizer={options.model},base_url={url}"
        # It cuts a context one token shorter than hf does, and chats have no
        # log-probabilities of what they are given.
        uncut = [task for task in TASKS if task != "toy_shots"]
        runs = [
            ("attend", f"address={server.address}", list(TASKS)),
            ("local-completions",
             f"{api}/completions,tokenizer_backend=huggingface,"
             "add_bos_token=True,num_concurrent=4", uncut),
        ]
        try:
            theirs = evaluate("hf", hf, folder, list(TASKS))
            failed = sum(
                compare(name, evaluate(name, arguments, folder, tasks), theirs)
                for name, arguments, tasks in runs)
            if options.chat == "yes":
                failed += compare("local-chat-completions", *(
                    evaluate(name, arguments, folder, ["toy_answer"], chat=True)
                    for name, arguments in [
                        ("local-chat-completions",
                         f"model=model,base_url={url}/chat/completions"),
                        ("hf", hf)]))
        finally:
            server.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
