"""Default fits on ordinary tables, beside scikit-learn.

    python bench/tables.py --posteria target/release/posteria [--uci FOLDER] [--models linear mlp gp]
        [--tables iris yacht ...] [--divisions 0 1 2 3 4] [--seeds 1 2]

Every fit is the command that a new user types: `posteria fit TABLE --target y --model KIND --out RUN`.
For each it prints CPU and wall seconds, chains × draws, why it stopped, the worst R-hat and the
fewest effective draws of predictions, by how much their means may differ in another run (in
standard deviations of f), and the mean log density and error on test rows. With two seeds or more
it also prints by how much their predictions differ. Needs NumPy and scikit-learn; tables of
`--uci` (data.txt, train_K.txt, test_K.txt, as published by Gal & Ghahramani 2016) are optional.
"""

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

CLASSES = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "cancer": datasets.load_breast_cancer,
}
REAL = {"diabetes": datasets.load_diabetes}
UCI = ["yacht", "energy", "concrete", "wine-quality-red"]


def divided(name, division, uci):
    """Training and test rows, and whether targets are classes; a third of scikit-learn's rows are test rows."""
    if name in UCI:
        folder = os.path.join(uci, name)
        rows = np.loadtxt(os.path.join(folder, "data.txt"))
        numbers = [
            np.loadtxt(os.path.join(folder, f"{part}_{division}.txt")).astype(int)
            for part in ("train", "test")
        ]
        x, y = rows[:, :-1], rows[:, -1]
    else:
        table = {**CLASSES, **REAL}[name]()
        x, y = table.data, table.target
        order = np.random.RandomState(division).permutation(len(y))
        first = round(len(y) * 2 / 3)
        numbers = [order[:first], order[first:]]
    return [(x[rows], y[rows]) for rows in numbers], name in CLASSES


def write(path, x, y, classes):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"x{k + 1}" for k in range(x.shape[1])] + ["y"])
        for inputs, target in zip(x, y):
            shown = f"c{int(target)}" if classes else repr(float(target))
            out.writerow([repr(float(value)) for value in inputs] + [shown])


def call(words, limit):
    """Standard output, CPU seconds and wall seconds of a command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.time()
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr[-500:])
    return done.stdout, cpu, time.time() - begin


def mixing(of):
    return f"{of['r_hat']:.3f}/{min(of['ess_bulk'], of['ess_tail']):.0f}" if of else "-"


def fit(posteria, folder, model, seed, limit):
    """One default fit: prints its line, returns means and deviations of f at test rows and the log density."""
    run = os.path.join(folder, f"{model}-{seed}")
    shutil.rmtree(run, ignore_errors=True)
    train, test = (os.path.join(folder, f"{part}.csv") for part in ("train", "test"))
    words = [posteria, "fit", train, "--target", "y", "--model", model, "--out", run]
    out, cpu, wall = call(words + ["--seed", str(seed), "--json"], limit)
    found = json.loads(out)
    assessed = json.loads(call([posteria, "assess", run, "--test", test, "--json"], limit)[0])
    scores = {score["name"]: score["mean"] for score in assessed["utilities"]}
    draws = os.path.join(folder, "draws.csv")
    call([posteria, "predict", run, test, "--draws-out", draws, "-q"], limit)
    with open(draws) as file:
        rows = list(csv.reader(file))
    columns = [k for k, name in enumerate(rows[0]) if name.startswith("f[")]
    f = np.array([[float(row[k]) for k in columns] for row in rows[1:]])
    of = found["predictions"]
    error = next(f"{name} {scores[name]:.4g}" for name in ("rmse", "accuracy") if name in scores)
    print(
        f"{model:7} seed {seed}: {cpu:6.1f} CPU s {wall:6.1f} s, {found['chains']} × {found['draws']}, "
        f"{found['stopped']}, fitted {mixing(of.get('fitted'))}, residual {mixing(of.get('residual_scale'))}, "
        f"log density {mixing(of['log_density'])}, known to {of.get('agreement') or float('nan'):.2f} sd, "
        f"{found['divergences']} divergences | test log density {scores['elpd']:.4f}, {error}",
        flush=True,
    )
    return f.mean(0), f.std(0), scores["elpd"]


def peer(train, test, classes):
    """The plain answer of scikit-learn: a penalty by cross-validation."""
    (x, y), (new, answers) = train, test
    if classes:
        model = LogisticRegressionCV(Cs=20, cv=5, scoring="neg_log_loss", max_iter=5000)
        model = make_pipeline(StandardScaler(), model).fit(x, y)
        return f"logistic regression, penalty by cross-validation: test log density {-log_loss(answers, model.predict_proba(new)):.4f}"
    model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 25))).fit(x, y)
    residuals = answers - model.predict(new)
    variance = np.mean((y - model.predict(x)) ** 2)
    density = -0.5 * np.log(2 * np.pi * variance) - np.mean(residuals**2) / (2 * variance)
    return f"ridge regression: test log density {density:.4f}, rmse {np.sqrt(np.mean(residuals**2)):.4g}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--posteria", required=True)
    options.add_argument("--uci")
    options.add_argument("--models", nargs="+", default=["linear", "mlp", "gp"])
    options.add_argument("--tables", nargs="+")
    options.add_argument("--divisions", nargs="+", type=int, default=[0])
    options.add_argument("--seeds", nargs="+", type=int, default=[1])
    options.add_argument("--limit", type=float, default=900.0, help="seconds of one command")
    asked = options.parse_args()
    names = asked.tables or [*CLASSES, *REAL, *(UCI if asked.uci else [])]
    for name in names:
        for division in asked.divisions:
            parts, classes = divided(name, division, asked.uci)
            (x, _), (new, _) = parts
            print(f"\n{name}, division {division}: {len(x)} × {x.shape[1]}, {len(new)} test rows", flush=True)
            print(peer(*parts, classes), flush=True)
            with tempfile.TemporaryDirectory() as folder:
                for part, (inputs, targets) in zip(("train", "test"), parts):
                    write(os.path.join(folder, f"{part}.csv"), inputs, targets, classes)
                for model in asked.models:
                    try:
                        fits = [fit(asked.posteria, folder, model, seed, asked.limit) for seed in asked.seeds]
                    except (subprocess.TimeoutExpired, RuntimeError) as error:
                        print(f"{model}: {error}", flush=True)
                        continue
                    for mean, sd, density in fits[1:]:
                        scale = np.sqrt((sd**2 + fits[0][1] ** 2) / 2)
                        apart = np.sqrt(np.mean(((mean - fits[0][0]) / scale) ** 2))
                        print(f"        seeds differ by {apart:.2f} sd of f, log density by {abs(density - fits[0][2]):.3f}")


if __name__ == "__main__":
    main()
