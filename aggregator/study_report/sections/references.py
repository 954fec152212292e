"""The sources that a report cites; docs/methods lists every one of them."""

from __future__ import annotations

from collections.abc import Iterable

from aggregator.study_report.content import Listing, Section

REFERENCES = "references"
AITKEN = "Aitken 1935"
CLOPPER = "Clopper and Pearson 1934"
DING = "Ding, Kulkarni and Yekhanin 2017"
DWORK = "Dwork and Roth 2014"
HOLM = "Holm 1979"
JENNISON = "Jennison and Turnbull 2000"
KAIROUZ = "Kairouz, Bonawitz and Ramage 2016"
LAN = "Lan and DeMets 1983"
OWEN = "Owen 1988"
PARKER = "Parker et al. 2017"
VENZON = "Venzon and Moolgavkar 1988"
WARNER = "Warner 1965"
WILKS = "Wilks 1938"

SOURCES = {
    AITKEN: "Aitken, A. C. (1935), On least squares and linear combination of observations, "
    "Proceedings of the Royal Society of Edinburgh 55.",
    CLOPPER: "Clopper, C. J. and Pearson, E. S. (1934), The use of confidence or fiducial limits "
    "illustrated in the case of the binomial, Biometrika 26(4).",
    DING: "Ding, B., Kulkarni, J. and Yekhanin, S. (2017), Collecting telemetry data privately, "
    "NeurIPS.",
    DWORK: "Dwork, C. and Roth, A. (2014), The algorithmic foundations of differential privacy, "
    "Foundations and Trends in Theoretical Computer Science 9(3–4).",
    HOLM: "Holm, S. (1979), A simple sequentially rejective multiple test procedure, Scandinavian "
    "Journal of Statistics 6(2).",
    JENNISON: "Jennison, C. and Turnbull, B. W. (2000), Group Sequential Methods with "
    "Applications to Clinical Trials, Chapman and Hall/CRC.",
    KAIROUZ: "Kairouz, P., Bonawitz, K. and Ramage, D. (2016), Discrete distribution estimation "
    "under local privacy, ICML.",
    LAN: "Lan, K. K. G. and DeMets, D. L. (1983), Discrete sequential boundaries for clinical "
    "trials, Biometrika 70(3).",
    OWEN: "Owen, A. B. (1988), Empirical likelihood ratio confidence intervals for a single "
    "functional, Biometrika 75(2).",
    PARKER: "Parker, J. D., Talih, M., Malec, D. J. et al. (2017), National Center for Health "
    "Statistics data presentation standards for proportions, Vital and Health Statistics 2(175).",
    VENZON: "Venzon, D. J. and Moolgavkar, S. H. (1988), A method for computing "
    "profile-likelihood-based confidence intervals, Applied Statistics 37(1).",
    WARNER: "Warner, S. L. (1965), Randomized response: a survey technique for eliminating evasive "
    "answer bias, Journal of the American Statistical Association 60(309).",
    WILKS: "Wilks, S. S. (1938), The large-sample distribution of the likelihood ratio for testing "
    "composite hypotheses, Annals of Mathematical Statistics 9(1).",
}


def write_references(texts: Iterable[str]) -> Section:
    """List the sources that these texts cite, in alphabetical order."""
    joined = " ".join(texts)
    cited = (source for key, source in SOURCES.items() if key in joined)
    return Section(anchor=REFERENCES, heading="References", parts=(Listing(items=tuple(cited)),))
