// What a mark says when the pointer is on it. Without this script the browser shows the same, only later.
(function () {
  var tip = document.getElementById("tip");
  document.querySelectorAll("svg title").forEach(function (title) {
    var mark = title.parentNode;
    mark.tip = title.textContent;
    mark.setAttribute("aria-label", mark.tip);
    title.remove();
  });
  document.addEventListener("mousemove", function (e) {
    var words = e.target.tip;
    tip.hidden = !words;
    if (!words) return;
    tip.textContent = words;
    tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (e.clientY + 18 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 10 : e.clientY + 18) + "px";
  });
})();
