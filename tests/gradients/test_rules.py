"""Each rule of reverse mode, by differences, at random points without ties."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from share import SEED, share

import rho

from .differences import gradient_and_differences, is_near

VECTORS = """
{+/⍵} {-/⍵} {×/⍵} {÷/⍵} {⌈/⍵} {*/⍵} {+\\⍵} {-\\⍵} {×\\⍵} {÷\\⍵} {⌈\\⍵} {⌊\\⍵} {⍵*2.5} {2.5*⍵} {⍵*3} {⍵*0} {⍵*1} {⍵*⍵} {⍟⍵}
{2⍟⍵} {⍵⍟3} {√⍵} {3√⍵} {⍵√3} {!⍵} {|⍵-1} {×⍵} {1○⍵} {2○⍵} {3○0.5×⍵} {5○⍵} {6○⍵} {7○⍵} {¯3○⍵} {¯5○⍵} {0○0.4×⍵} {4○⍵} {¯1○0.4×⍵}
{¯2○0.4×⍵} {¯6○1+⍵} {¯7○0.4×⍵} {¯4○1+⍵} {9○⍵} {10○⍵} {○⍵} {÷⍵} {⍵÷⌽⍵} {⍵⌈1} {⍵⌊⌽⍵} {1|⍵} {⍵|3} {2!⍵} {⍵!5} {⎕erf⍵} {⎕erfc⍵}
{⎕expm1⍵} {⎕log1p⍵} {⎕lgamma⍵} {f32⍵} {⌽⍵} {1⌽⍵} {(⌊1.5)⌽⍵} {2↑⍵} {¯2↑⍵} {9↑⍵} {¯9↑⍵} {1↓⍵} {⍵,⍵*2} {⍵,1,⍵} {7⍴⍵} {3⍴⍵}
{2_3⍴⍵} {⍵[2_0_0]} {⍵[0_1∘.+0_1]} {⊃⍵} {1_0_1_1_0/⍵} {0_1_0_1_1_1_1\\⍵} {+/√(⍵>1)/⍵-1} {+/(⍵>1)×⍵} {⍵[⍋⍵]} {⍵[⍒⍵]} {⍵+.×⍵}
{⍵∘.×⍵} {⍵∘.-⍵*2} {⍵∘.⌈⍵} {⍵-(+/⍵)÷≢⍵} {⍟+/*⍵} {(⊢-⌈/)⍵} {x←1⌽⍵◊(x-⍵)*2} {⍵⊣⍵} {{⍵*2}¨⍵} {{⍵>1:⍵*2◊⍵*3}¨⍵} {(0<+/⍵-1):⍵*2◊2÷⍵}
{(9<+/⍵):⍵*2◊2÷⍵} {2⊥⍵} {1⊥⍵} {3+⌸(0_2_0_1_1◊⍵)} {3⌈⌸(0_2_0_1_1◊⍵)} {3⌊⌸(0_2_0_1_1◊⍵)} {3×⌸(0_2_0_1_1◊⍵)} {({+/⍵}⌺3)⍵}
{({⌈/⍵}⌺2)⍵} {({+/⍵×3_1_2}⌺3)⍵} {x←⍵◊x[1_1]←5_6×⍵[0]◊x} {x←⍵◊x[2]←⍵[0]◊x} {(×∘2)@1_2⊢⍵} {(×∘3)@(⍵>1)⊢⍵} {{0.5×⍵+2÷⍵}⍣5⊢⍵}
{{⍵×⍵}⍣\\3⊢⍵} {{⍵×1.1}⍣(20◊{(+/⍵)>10})⊢⍵} {{⍵+⍺×⍵}⍣0.1_0.2_0.3⊢⍵} {{⍵+⍺×⍵}⍣⍵⊢1.} {p←⍵◊{p×⍵-⍵*3}⍣4⊢0.1×p} {{⍺×⍵+1}/⍵}
{{⍺×⍵+1}\\⍵} {{⍵×⍺+1}⍣(⍳4)⊢⍵} {a←⍵◊{⍵×a[⍺]}⍣(⍳4)⊢1.} {a←⍵◊{⍵×a[3-⍺]+⍺}⍣\\(⍳4)⊢1.} {{⍺>1:⍵×⍺◊⍵+⍺}⍣⍵⊢1.}
{a←⍵◊{a[⍵]*2}¨⍳5} {a←⍵◊{a[⍵]*2}¨4_2_2_0} {a←⍵◊{+/a[⍵]*2}⍤1⊢3_2⍴4_2_1_0_0_1} {a←⍵◊{a[⍵]*2}⍤0⊢2_2⍴4_2_1_2}
{a←⍵◊{(+/a)×a[2]*⍵}¨⍳5} {a←⍵◊{a[4-⍵]×⌈/a}¨⍳5} {a←⍵◊{⍵>2:a[⍵]*2◊a[0]}¨⍳5} {a←⍵◊{⍵×a[⌊⍵]}¨⍵} {a←⍵◊{x←a[⍵]◊{x×⍵}⍣3⊢x}¨0_1_1_4}
{a←⍵◊+/{{x←⍵◊+/{x[⍵]×x[2]}¨0_2_2}∂a×⍵}¨⍵} {e←*⍵◊e÷+/e} {e←*⍵◊(+/e)×e×+/e} {(+/⍵)×⍵} {m←⌈/⍵◊m+⍟+/*⍵-m} {s←+/⍵◊+/{+/⍵×s}∂⍵}
{(a_b)←{(a_b)←⍵◊(b◊a×b)}⍣3⊢(⍵◊2×⍵)◊a+b} {+/(⍳5)×⍵} {0=+/⍵:⍵◊⍵÷+/⍵} {(⍳5)∘{+/⍵*⍺}¨⍵}
"""
MATRICES = """
{⍉⍵} {⊖⍵} {⌽⍵} {+/⍵} {+⌿⍵} {×/⍵} {⌈/⍵} {⌊⌿⍵} {+⍀⍵} {×⍀⍵} {⌈⍀⍵} {⌊\\⍵} {2⊖⍵} {(⍳4)⌽⍵} {2_2↑⍵} {¯5_2↑⍵} {5_6↑⍵} {,⍵} {⍵⍪2×⍵}
{⍵,⍵} {0_0⍉⍵} {0_0⍉3_5↑⍵} {⍵[;1_1]} {⍵[1;2]} {⍵[2]} {1_0_1_1⌿⍵} {⍵+.×1_2_3_4.} {1_2_3_4.+.×⍵} {⍵+.×⍉⍵} {(⍉⍵)+.×⍵} {⍵⌊.+⍉⍵}
{⌈/⌊/⍵} {{(+/⍵*2)*0.5}⍤1⊢⍵} {{⍵÷+/⍵}⍤1⊢⍵} {⍵×⍤1⊢+⌿⍵} {⍵-⍤1⊢(+⌿⍵)÷≢⍵} {⍵÷+/⍵} {({+/,⍵×3_3⍴⍳9}⌺3_3)⍵} {({⌈/,⍵}⌺3_3)⍵}
{({+/,⍵}⌺3)⍵} {({+/,⍵×2_3⍴⍳6}⌺2_3)⍵} {2_3_4_5⊥⍵} {(2_4⍴⍳8)⊥⍵} {w←⍵◊{w+.×⍵}⍣3⊢1_2_3_4.} {w←⍵◊{7○⍵+.×w}⍤1⊢5_4⍴⍳20} {⍵[⍋⍵;]}
{3+⌸(2_0_2_1◊⍵)} {3⌈⌸(2_0_2_1◊⍵)} {⌹⍵+4×4_4⍴1_0_0_0_0} {1_2_3_4.⌹⍵+4×4_4⍴1_0_0_0_0} {⌹4_2↑⍵} {(4_3⍴⍳12)⌹4_2↑⍵} {⎕det⍵}
{(s_l)←⎕slogdet⍵+4×4_4⍴1_0_0_0_0◊l} {⎕cholesky(⍵+.×⍉⍵)+4_4⍴1_0_0_0_0} {⎕cholesky⍵+9×4_4⍴1_0_0_0_0} {{⍵+.×⍵}⍣2⊢⍵}
{a←⍵◊{i←⍵◊{a[⍵;i]*2}⍤0⊢⍳3}¨⍳4} {a←⍵◊{a[;⍵]×⍵}⍤0⊢2_2⍴2_2_0_1} {a←⍵◊{a[⍵;]+.×a[1;]}⍤0⊢3_2_2}
{(3_4⍴⍳12)+.×⍵-⍤1⊢⍵[0]} {(+⌿⍵+.×⍵)+⍵[0]} {a←⍵[0]◊(a-⍤1⊢⍵)+.×⍵} {{m←⌈/⍵◊m+⍟+/*⍵-m}⍤1⊢⍵}
{(⍵[0]×⍵[1])+⍵[2]÷⍵[3]} {(⍵[0]×⍵[1;])+⍵[1]*3} {⍵[2]*2} {(⍵[;0]×⍵[;3])-⍵[;1]×⍵[0;]} {⍵[3]+⍵×⍵[0]+⍵[;1]×⍵[2]}
{(⍵[;0]×⍵[;3])+⍵[;1]÷⍵[;2]} {p←⍵◊{⍵×p[0]+p[1;2]×p[2]}⍣3⊢0.1×⍵[3]} {p←⍵◊{(⍺×p[1])+⍵×p[2]}⍣p⊢p[0]}
{⍵[1]×{⍵[0;1]×⍵[1;2]*3}∂⍵} {{⍵[0]×⍵[1]-⍵[3]}⍤1⊢⍵}
{x←⍵◊x[1;]←2×⍵[0]◊x} {x←⍵◊x[;1]←5.◊x} {x←⍵◊x[1_1;0_2]←⍵[0_1;1_1]◊x} {{⍺+⍵×⍵}⌿⍵} {{⍵+⍺*2}⍀⍵}
"""
CUBES = """
{0_1_0⍉⍵} {1_0_2⍉⍵} {1_2_0⍉⍵} {+/⍵} {+⌿⍵} {⍵+.×1_2.} {(2_4⍴⍳8)+.×⍵} {⎕det⍤2⊢2_2↑⍤2⊢⍵} {⍵×⍤1⊢1_2.} {⌈⌿⍵} {⍵[1;;0]} {⍵[;1_0;]}
{×⍀⍵} {,⍵} {⊃⍵} {{+/,⍵}⍤2⊢⍵} {({+/,⍵×2_3⍴⍳6}⌺2_3)⍵} {⍵[1_1;0;1]}
"""
COMPLEX = """
{|0J1×⍵} {|⎕rfft⍵} {9○⎕rfft⍵} {11○⎕rfft_1↓⍵} {|⎕fft⍵} {9○⎕ifft⎕fft⍵} {9○⎕ifft(⎕fft⍵)×⎕fft_1⌽⍵} {⎕irfft(⎕rfft⍵)×⎕rfft⌽⍵}
{|*⍵×0J1+⍵} {|√⍵+0J2} {|⍟⍵+0J2} {|1○⍵×1J1} {11○÷⍵+0J1} {9○(⍵+0J1)÷⍵-0J2} {|+/⍵×0J1*⍳6} {|(2_3⍴⍵)+.×3_2⍴⍵×1J2} {|+\\⍵×1J2}
{|{⍵×0.5J0.5+⍵}⍣3⊢⍵} {|{⍵×1J2}¨⍵} {9○+⍵×1J2} {|⎕rfft⍤1⊢2_3⍴⍵} {+/|(⍵>1)/⍵×1J1} {|3+⌸(0_2_0_1_1_2◊⍵×1J2)} {10○⍵×1J1×⍵}
"""
SHAPES = ((VECTORS, (5,)), (MATRICES, (4, 4)), (CUBES, (4, 3, 2)), (COMPLEX, (6,)))
CASES = [(text.replace("_", " ").replace("◊", " ⋄ "), shape) for texts, shape in SHAPES for text in texts.split()]


@pytest.mark.parametrize(("text", "shape"), share(CASES, 1), ids=str)
def test_a_gradient_is_the_slope(text: str, shape: tuple[int, ...]) -> None:
    seed = zlib.crc32(text.encode()) + SEED
    x = np.random.default_rng(seed).uniform(0.3, 1.9, shape)
    step = 1e-3 if "f32" in text else 1e-6 if "⌺" in text or "⌈" in text else 1e-4
    found, slopes = gradient_and_differences(text, x, seed, step)
    if not is_near(found, slopes, 1e-3 if "f32" in text else 1e-6):  # a pole is near, as of the logarithm to a base of almost 1
        slopes = gradient_and_differences(text, x, seed, step / 100)[1]
        assert is_near(found, slopes, 1e-5), (seed, found, slopes)


def work(folder: Path, function: str, **sizes: int) -> float:
    """The operations of the gradient by w of a function of x and w."""
    path = folder / "g.rho"
    inputs = "input x : f64[n d] where n ≥ 1, d ≥ 1\ninput w : f64[d k] where k ≥ 1\n"
    path.write_text(f"{inputs}output g ← {{{function}}}∂w\n", encoding="utf-8")
    return rho.load(path).bounds(**sizes).work


def test_each_cell_of_a_map_gives_the_cotangent_of_what_it_selects(tmp_path: Path) -> None:
    text = "w←⍵ ⋄ +/{+/w[⍵;]*2}⍤0⊢⍳d"
    assert work(tmp_path, text, n=1, d=2000, k=8) < 2.1 * work(tmp_path, text, n=1, d=1000, k=8)


def test_a_sum_of_a_product_needs_no_product(tmp_path: Path) -> None:
    sizes = {"n": 1000, "d": 100, "k": 100}
    text = "+/,((x-⍤1⊢+/⍵)+.×⍵)*2"  # two products: the function's, and that for ⍵
    assert work(tmp_path, text, **sizes) < 1.2 * work(tmp_path, "+/,(x+.×⍵)*2", **sizes)


def test_a_sum_of_multiples_of_what_is_summed_is_no_pass(tmp_path: Path) -> None:
    shifted, plain = (work(tmp_path, text, n=1, d=1, k=10**6) for text in ("y←,⍵ ⋄ m←3×y[0] ⋄ m+⍟+/*y-m", "⍟+/*,⍵"))
    assert shifted < plain + 3.5e6  # the subtraction, the copy that the first item is added to, and no sum of multiples
