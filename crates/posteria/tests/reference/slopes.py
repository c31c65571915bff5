"""Maximum likelihood of a line whose log residual scale is linear in the input.

y_i = alpha + beta x_i + exp(a + b x_i) e_i, e_i normal or Student's t with 4 degrees of freedom,
on a table that anyone can write again. Newton's method with differences of the log likelihood;
standard errors from the inverse Hessian. Run with any Python 3; prints what
crates/posteria/src/model/linear/tests/slopes.rs compares with.
"""

import math

ROWS = 200


def table():
    rows = []
    for i in range(1, ROWS + 1):
        part = lambda r: (i * math.sqrt(r)) % 1.0
        x = math.sqrt(12.0) * (part(5) - 0.5)
        e = 2.0 * (part(2) + part(3) + part(7) - 1.5)
        rows.append((x, 1.0 + 2.0 * x + math.exp(-0.5 + 0.6 * x) * e))
    return rows


def log_likelihood(family, rows, theta):
    alpha, beta, a, b = theta
    total = 0.0
    for x, y in rows:
        log_scale = a + b * x
        z = (y - alpha - beta * x) * math.exp(-log_scale)
        if family == "normal":
            total += -0.5 * math.log(2 * math.pi) - log_scale - 0.5 * z * z
        else:
            nu = 4.0
            constant = math.lgamma(0.5 * (nu + 1)) - math.lgamma(0.5 * nu)
            constant -= 0.5 * math.log(nu * math.pi)
            total += constant - log_scale - 0.5 * (nu + 1) * math.log1p(z * z / nu)
    return total


def solve(matrix, vector):
    n = len(vector)
    rows = [list(matrix[i]) + [vector[i]] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [p - factor * q for p, q in zip(rows[i], rows[k])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def derivatives(f, theta, step=1e-4):
    n = len(theta)

    def at(*moves):
        moved = list(theta)
        for k, sign in moves:
            moved[k] += sign * step
        return f(moved)

    gradient = [(at((k, 1)) - at((k, -1))) / (2 * step) for k in range(n)]
    hessian = [
        [
            (at((j, 1), (k, 1)) - at((j, 1), (k, -1)) - at((j, -1), (k, 1)) + at((j, -1), (k, -1)))
            / (4 * step * step)
            for k in range(n)
        ]
        for j in range(n)
    ]
    return gradient, hessian


for family in ("normal", "student-t"):
    rows = table()
    f = lambda theta: log_likelihood(family, rows, theta)
    theta = [1.0, 2.0, -0.5, 0.5]
    for _ in range(50):
        gradient, hessian = derivatives(f, theta)
        step = solve(hessian, gradient)
        theta = [t - s for t, s in zip(theta, step)]
        if max(abs(s) for s in step) < 1e-10:
            break
    _, hessian = derivatives(f, theta)
    units = [[float(i == k) for i in range(4)] for k in range(4)]
    errors = [math.sqrt(-solve(hessian, unit)[k]) for k, unit in enumerate(units)]
    print(family, "maximum", [round(t, 6) for t in theta], f"{f(theta):.6f}")
    print(family, "standard errors", [round(e, 6) for e in errors])
