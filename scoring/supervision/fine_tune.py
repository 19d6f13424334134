# /// script
# requires-python = ">=3.11"
# dependencies = ["accelerate", "datasets>=4", "peft>=0.18", "torch>=2.6", "transformers>=5", "trl>=1"]
# ///
"""Fine-tune a language model of about 8 billion parameters as a judge, and let it answer requests.

    python fine_tune.py train --data supervision --model Qwen/Qwen3-8B --out judge
    python fine_tune.py predict --data supervision --model judge --out predictions.jsonl

``supervision`` is a folder that ``manage.py export_sft`` wrote. The script needs neither Consilium nor its database:
copy it to the machine with the GPU, and ``uv run fine_tune.py …`` installs what it needs; otherwise install the extra
``sft``. The model learns the answers alone, from the messages that a chat judge is sent. Files that differ from the
manifest are refused. ``manage.py import_verdicts predictions.jsonl`` reads the predictions.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

# The columns of a request by which its answer is stored.
PLACE = ("case", "candidate", "setting", "sample", "criterion")
# Judges answer without a visible chain of thought; templates that have no such switch ignore it.
TEMPLATE_OPTIONS = {"enable_thinking": False}
MAX_NEW_TOKENS = 512
# What makes a model answer as it does: weights, configuration, tokenizer and chat template.
MODEL_FILES = (
    *("*.safetensors", "*.bin", "*.model", "config.json", "generation_config.json", "adapter_config.json"),
    *("tokenizer*.json", "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "*.jinja"),
)

Message = dict[str, str]


class WrongData(Exception):
    """A folder or file that cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Supervision:
    """A folder of ``export_sft``, with its manifest."""

    folder: Path
    manifest: dict[str, Any]

    @classmethod
    def of(cls, folder: Path) -> Supervision:
        """Raise `WrongData` if the folder has no manifest that can be read."""
        path = folder / "manifest.json"
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise WrongData(f"{path}: {error.strerror}") from None
        except ValueError:
            raise WrongData(f"{path}: not JSON") from None
        if not isinstance(manifest, dict) or not {"parts", "prompt", "held_out"} <= manifest.keys():
            raise WrongData(f"{path}: not the manifest of an export of supervision")
        return cls(folder, manifest)

    def rows(self, part: str) -> Iterator[dict[str, Any]]:
        """The lines of a part: ``train``, ``dev`` or ``requests``. `WrongData` if the file is not as exported."""
        path = self.check(part)
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)

    def check(self, part: str) -> Path:
        """The file of a part. `WrongData` if it is not as exported."""
        described = self.manifest["requests"] if part == "requests" else self.manifest["parts"][part]
        path = self.folder / described["file"]
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise WrongData(f"{path}: {error.strerror}") from None
        if digest != described["sha256"]:
            raise WrongData(f"{path}: not the file that the manifest describes (SHA-256 {digest})")
        return path

    def messages(self, instruction: str) -> list[Message]:
        """An instruction as the two messages that a chat judge is sent: system and user."""
        prompt = self.manifest["prompt"]
        cut = prompt["system_characters"]
        if instruction[cut : cut + len(prompt["joint"])] != prompt["joint"]:
            raise WrongData("An instruction does not begin with the system message that the manifest describes.")
        user = instruction[cut + len(prompt["joint"]) :]
        system = [{"role": "system", "content": instruction[:cut]}] if cut else []
        return [*system, {"role": "user", "content": user}]

    def examples(self, part: str) -> Iterator[dict[str, Any]]:
        """The lines of ``train`` or ``dev`` as TRL takes them: a conversational prompt and its completion."""
        for row in self.rows(part):
            yield {
                "prompt": self.messages(row["instruction"]),
                "completion": [{"role": "assistant", "content": row["output"]}],
                "chat_template_kwargs": TEMPLATE_OPTIONS,
            }


def train(options: argparse.Namespace) -> None:
    """Fine-tune ``--model`` on train.jsonl, keep the epoch that is best on dev.jsonl, and write it to ``--out``."""
    if options.out.exists() and any(options.out.iterdir()):
        raise WrongData(f"{options.out} is not empty")
    data = Supervision.of(options.data)

    import torch
    import transformers
    import trl
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    tokenizer = AutoTokenizer.from_pretrained(options.model)
    parts: dict[str, Any] = {}
    too_long: dict[str, int] = {}
    for part in ("train", "dev"):
        examples = list(data.examples(part))
        short = [example for example in examples if _tokens(tokenizer, example) <= options.max_length]
        # A trainer cuts what is too long at its end, which is the answer.
        too_long[part] = len(examples) - len(short)
        if not short:
            raise WrongData(f"No line of {part} is within --max-length {options.max_length} tokens.")
        parts[part] = Dataset.from_list(short)
    if any(too_long.values()):
        print(f"left out, as longer than {options.max_length} tokens: {too_long}", file=sys.stderr)

    gpu = torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.bfloat16 if gpu else torch.float32)
    low_rank = LoraConfig(
        r=options.lora_rank,
        lora_alpha=2 * options.lora_rank,
        lora_dropout=0.05,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=parts["train"],
        eval_dataset=parts["dev"],
        peft_config=low_rank if options.lora_rank else None,
        args=SFTConfig(
            output_dir=str(options.out / "checkpoints"),
            num_train_epochs=options.epochs,
            learning_rate=options.learning_rate or (1e-4 if options.lora_rank else 1e-5),
            lr_scheduler_type="cosine",
            warmup_steps=0.03,
            per_device_train_batch_size=options.batch_size,
            per_device_eval_batch_size=options.batch_size,
            gradient_accumulation_steps=options.accumulate,
            gradient_checkpointing=gpu,
            max_length=options.max_length,
            completion_only_loss=True,
            bf16=gpu,
            use_cpu=not gpu,
            eval_strategy="epoch",
            save_strategy="epoch",
            save_total_limit=1,
            load_best_model_at_end=True,
            metric_for_best_model="eval_loss",
            greater_is_better=False,
            logging_steps=10,
            report_to="none",
            seed=options.seed,
            data_seed=options.seed,
        ),
    )
    before = trainer.evaluate()["eval_loss"]
    trainer.train()
    after = trainer.evaluate()["eval_loss"]
    whole = trainer.model.merge_and_unload() if options.lora_rank else trainer.model
    whole.save_pretrained(options.out)
    tokenizer.save_pretrained(options.out)
    record = {
        "model": options.model,
        "settings": {name: value for name, value in vars(options).items() if isinstance(value, int | float)},
        "rows": {part: len(rows) for part, rows in parts.items()},
        "too_long": too_long,
        "dev_loss": {"before": before, "after": after},
        "supervision": data.manifest,
        "software": {library.__name__: library.__version__ for library in (torch, transformers, trl)},
    }
    text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    (options.out / "training.json").write_text(text, encoding="utf-8")
    print(f"loss on dev: {before:.4f} before, {after:.4f} after; written to {options.out}")


def _tokens(tokenizer: Any, example: dict[str, Any]) -> int:
    """How many tokens a prompt and its completion have."""
    messages = [*example["prompt"], *example["completion"]]
    return len(tokenizer.apply_chat_template(messages, return_dict=True, **TEMPLATE_OPTIONS)["input_ids"])


def predict(options: argparse.Namespace) -> None:
    """Answer requests.jsonl; requests that ``--out`` has answers to are not asked again.

    A file beside ``--out`` says which model answered which requests. Nothing is written before the data, the model and
    what is there already are found to belong together.
    """
    data = Supervision.of(options.data)
    if "requests" not in data.manifest:
        raise WrongData(f"{options.data} has no requests: export them with --requests held-out or --requests all")
    data.check("requests")
    predictions = Predictions(options.out, {"model": _identity(options.model), "requests": _digest_of_requests(data)})
    answered = predictions.places()

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(options.model, padding_side="left")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    gpu = torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.bfloat16 if gpu else torch.float32)
    model.to("cuda" if gpu else "cpu").eval()
    due = (row for row in data.rows("requests") if _place(row) not in answered)
    predictions.prepare()
    with options.out.open("a", encoding="utf-8") as file:
        while batch := list(islice(due, options.batch_size)):
            inputs = tokenizer.apply_chat_template(
                [data.messages(row["instruction"]) for row in batch],
                add_generation_prompt=True,
                padding=True,
                return_tensors="pt",
                return_dict=True,
                **TEMPLATE_OPTIONS,
            ).to(model.device)
            with torch.inference_mode():
                tokens = model.generate(
                    **inputs,
                    do_sample=False,
                    max_new_tokens=options.max_new_tokens,
                    pad_token_id=tokenizer.pad_token_id,
                )
            outputs = tokenizer.batch_decode(tokens[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
            for row, output in zip(batch, outputs, strict=True):
                line = {name: row[name] for name in PLACE} | {"output": output}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
    print(f"answers: {len(predictions.places()):,}, in {options.out}")


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in PLACE)


@dataclass(frozen=True)
class Predictions:
    """A file of predictions. ``origin``, kept in a file beside it, says which model answered which requests."""

    path: Path
    origin: dict[str, str]

    @property
    def origin_path(self) -> Path:
        """Where the origin is kept."""
        return self.path.with_name(f"{self.path.name}.origin.json")

    def places(self) -> set[tuple[Any, ...]]:
        """The places that have an answer; a last line that was cut off has none.

        `WrongData` if the file is of something else, of another model, or of other requests.
        """
        whole = self._whole_lines()
        if whole is None:
            return set()
        try:
            places = {_place(json.loads(line)) for line in whole.splitlines()}
            stored = json.loads(self.origin_path.read_text(encoding="utf-8"))
            model, requests = stored["model"], stored["requests"]
        except (OSError, ValueError, KeyError, TypeError):
            raise WrongData(
                f"{self.path} is not a file of predictions of this script, or {self.origin_path.name} is missing "
                "beside it. Give another --out."
            ) from None
        if model != self.origin["model"]:
            raise WrongData(f"{self.path} has answers of another model than --model. Give another --out.")
        if requests != self.origin["requests"]:
            raise WrongData(f"{self.path} has answers to other requests than those of --data. Give another --out.")
        return places

    def prepare(self) -> None:
        """Make the file ready to be appended to, once `places` has not refused it."""
        whole = self._whole_lines()
        if whole is None:
            self.origin_path.write_text(json.dumps(self.origin, indent=2) + "\n", encoding="utf-8")
        elif len(whole) < self.path.stat().st_size:
            self.path.write_bytes(whole)

    def _whole_lines(self) -> bytes | None:
        """The lines that have an end; None where there is no file, or an empty one."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise WrongData(f"{self.path}: {error.strerror}") from None
        return data[: data.rfind(b"\n") + 1] if data else None


def _digest_of_requests(data: Supervision) -> str:
    digest: str = data.manifest["requests"]["sha256"]
    return digest


def _identity(model: str) -> str:
    """Which model it is: the SHA-256 of the files in its folder, or its name at Hugging Face with the revision."""
    folder = Path(model)
    if folder.is_dir():
        whole = hashlib.sha256()
        for path in sorted({path for pattern in MODEL_FILES for path in folder.glob(pattern)}):
            with path.open("rb") as file:
                whole.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return f"sha256:{whole.hexdigest()}"

    from transformers import AutoConfig

    return f"{model}@{getattr(AutoConfig.from_pretrained(model), '_commit_hash', None)}"


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="train|predict")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, required=True, metavar="DIR", help="a folder of export_sft")

    training = commands.add_parser("train", parents=[common], help="fine-tune a model")
    training.add_argument("--model", default="Qwen/Qwen3-8B", help="name or folder (default Qwen/Qwen3-8B)")
    training.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the fine-tuned model")
    training.add_argument("--epochs", type=float, default=3)
    training.add_argument("--learning-rate", type=float, help="default 1e-4 with LoRA, 1e-5 without")
    training.add_argument("--lora-rank", type=int, default=16, help="0 trains all weights (default 16)")
    training.add_argument("--batch-size", type=int, default=1)
    training.add_argument("--accumulate", type=int, default=16, help="batches between two updates (default 16)")
    training.add_argument("--max-length", type=int, default=8192, help="in tokens; longer lines are left out")
    training.add_argument("--seed", type=int, default=0)
    training.set_defaults(run=train)

    answering = commands.add_parser("predict", parents=[common], help="answer the requests of the folder")
    answering.add_argument("--model", required=True, help="the folder that train wrote")
    answering.add_argument("--out", type=Path, required=True, metavar="FILE", help="predictions, a line a request")
    answering.add_argument("--batch-size", type=int, default=8)
    answering.add_argument("--max-new-tokens", type=int, default=MAX_NEW_TOKENS)
    answering.set_defaults(run=predict)
    return parser


def main(given: Sequence[str] | None = None) -> int:
    """Run a command; 1 with a line on standard error if its data cannot be used."""
    options = arguments().parse_args(given)
    try:
        options.run(options)
    except WrongData as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
