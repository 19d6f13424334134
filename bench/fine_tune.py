"""Checks `scoring/supervision/fine_tune.py` on a model of some ten thousand weights that it makes itself; no GPU.

    python bench/fine_tune.py [--rows N] [--epochs E]

Needs the extra ``sft``. The made-up judgements can be learned from the words of a criterion: the model has to answer
held-out requests in the right form, and better than by always giving the more frequent answer. Prints the loss on dev
before and after, and how many answers can be read and are right.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[1] / "scoring" / "supervision" / "fine_tune.py"
SYSTEM = "Say whether the response meets the criterion."
GOOD, BAD = ("names a dose", "asks about allergies"), ("invents a drug", "omits the red flag")
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def make_supervision(folder: Path, rows: int, rng: random.Random) -> dict[str, bool]:
    """An export in the shape of ``export_sft``; return the right answer by the case of each request."""
    truth: dict[str, bool] = {}
    texts: dict[str, list[dict[str, Any]]] = {"train": [], "dev": [], "requests": []}
    for part, size in (("train", rows), ("dev", rows // 4), ("requests", rows // 4)):
        for number in range(size):
            met = rng.random() < 0.6
            criterion = rng.choice(GOOD if met else BAD)
            instruction = f"{SYSTEM}\n\ncriterion: {criterion}"
            if part == "requests":
                key = f"r{number}"
                truth[key] = met
                place = {"case": key, "candidate": "c", "setting": "chat", "sample": 0, "criterion": 1}
                texts[part].append({**place, "instruction": instruction})
            else:
                answer = json.dumps({"explanation": "", "criteria_met": met})
                texts[part].append({"instruction": instruction, "output": answer})
    described = {}
    for part, lines in texts.items():
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        (folder / f"{part}.jsonl").write_bytes(data)
        described[part] = {"file": f"{part}.jsonl", "sha256": hashlib.sha256(data).hexdigest()}
    manifest = {
        "prompt": {"system_characters": len(SYSTEM), "joint": "\n\n"},
        "parts": {part: described[part] for part in ("train", "dev")},
        "held_out": {},
        "requests": described["requests"],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return truth


def make_model(folder: Path, texts: list[str], seed: int) -> int:
    """A model with random weights and a tokenizer of the words in ``texts``; return the number of weights."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from tokenizers.decoders import ByteLevel
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(seed)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevel()
    special = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=600, special_tokens=special, initial_alphabet=alphabet)
    )
    words = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<|pad|>", eos_token="<|end|>")
    words.chat_template = TEMPLATE
    words.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        pad_token_id=words.pad_token_id,
        eos_token_id=words.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    return sum(weights.numel() for weights in model.parameters())


def main() -> None:
    """Make data and a model, train, predict, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lora-rank", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fine-tune-") as scratch:
        data, model, judge = (Path(scratch) / name for name in ("data", "model", "judge"))
        data.mkdir()
        truth = make_supervision(data, options.rows, random.Random(options.seed))
        lines = [json.loads(line) for line in (data / "train.jsonl").read_text().splitlines()]
        weights = make_model(model, [f"{row['instruction']} {row['output']}" for row in lines], options.seed)
        print(f"model: {weights:,} weights; {len(lines)} lines to learn from, {len(truth)} requests")
        predictions = Path(scratch) / "predictions.jsonl"
        shared = [sys.executable, str(SCRIPT)]
        training = ["train", "--data", data, "--model", model, "--out", judge, "--epochs", options.epochs]
        training += ["--learning-rate", 5e-3, "--batch-size", 16, "--accumulate", 1, "--max-length", 256]
        training += ["--lora-rank", options.lora_rank, "--seed", options.seed]
        subprocess.run([*shared, *map(str, training)], check=True)
        answering = ["predict", "--data", data, "--model", judge, "--out", predictions, "--max-new-tokens", 60]
        subprocess.run([*shared, *map(str, answering)], check=True)
        readable = right = 0
        for line in predictions.read_text().splitlines():
            row = json.loads(line)
            try:
                answer = json.loads(row["output"])
            except ValueError:
                continue
            readable += 1
            right += answer.get("criteria_met") is truth[row["case"]]
        more_frequent = max(sum(truth.values()), len(truth) - sum(truth.values()))
        print(f"answers: {len(truth)}, in the right form {readable}, right {right}")
        print(f"always the more frequent answer would be right {more_frequent} times")


if __name__ == "__main__":
    main()
