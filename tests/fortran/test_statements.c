/* Statements: what each one is taken for, and the tree it becomes.  One row, one statement inside of a subroutine. */
#include "reading.h"

struct row {
    const char *text, *expected;
};

static void check_rows(const struct row *rows, size_t count, bool dec)
{
    for (size_t i = 0; i < count; i++) {
        struct reading reading;
        char text[1000], expected[1000];
        snprintf(text, sizeof text, "subroutine s\n%s\nend\n", rows[i].text);
        snprintf(expected, sizeof expected, "(subroutine s\n  %s)\n", rows[i].expected);
        reading_start(&reading, OFL_FORM_FREE);
        reading.options.dec = dec;
        reading_parse(&reading, text, strlen(text));
        char *messages = reading_messages(&reading), *tree = reading_tree(&reading);
        assert_string_equal(messages, "");
        assert_string_equal(tree, expected);
        free(messages);
        free(tree);
        reading_end(&reading);
    }
}
#define CHECK(rows)     check_rows(rows, sizeof(rows) / sizeof(rows)[0], false)
#define CHECK_DEC(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0], true)

static void test_not_reserved(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"if = 1", "(assignment if 1)"},
        {"if (x) = 1", "(assignment if(x) 1)"},
        {"if (x) y = 1", "(if statement x (assignment y 1))"},
        {"do = 1", "(assignment do 1)"},
        {"do i = 1, 2\nend do", "(do i=1 2)"},
        {"end = 3", "(assignment end 3)"},
        {"end%if = 3", "(assignment end%if 3)"},
        {"where (m) = 2", "(assignment where(m) 2)"},
        {"where (m) x = 2", "(where statement m (assignment x 2))"},
        {"data = 1", "(assignment data 1)"},
        {"real = integer + print", "(assignment real (+ integer print))"},
        {"call = 2", "(assignment call 2)"},
        {"call call(call)", "(call call(call))"},
        {"type = 1", "(assignment type 1)"},
        {"format(i) = 1", "(assignment format(i) 1)"},
        {"p%q(1)%r => s", "(pointer assignment p%q(1)%r s)"},
        {"p(1:, 2:) => s", "(pointer assignment p((: 1 _) (: 2 _)) s)"},
        {"forall (i = 1:3) a(i) = i", "(forall statement concurrent (i=1 3)\n    (assignment a(i) i))"},
        {"print = 5", "(assignment print 5)"},
        {"interface = 1", "(assignment interface 1)"},
    };
    CHECK(rows);
}

static void test_expressions(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"x = -a**2", "(assignment x (- (** a 2)))"},
        {"x = -a*b + c", "(assignment x (+ (- (* a b)) c))"},
        {"x = a**b**c", "(assignment x (** a (** b c)))"},
        {"x = a - b - c", "(assignment x (- (- a b) c))"},
        {"x = 2**-1", "(assignment x (** 2 (- 1)))"},
        {"x = a*-b + c", "(assignment x (+ (* a (- b)) c))"},
        {"x = .not. a .and. b .or. c", "(assignment x (.or. (.and. (.not. a) b) c))"},
        {"x = a .eqv. b .or. c", "(assignment x (.eqv. a (.or. b c)))"},
        {"x = a // b == c", "(assignment x (== (// a b) c))"},
        {"x = .my. a .op. b + c", "(assignment x (.op. (.my. a) (+ b c)))"},
        {"x = 1.eq.2", "(assignment x (== 1 2))"},
        {"x = 1.e2 + 1.d0 + .5 + 1. + 1_8 + 1.5_wp", "(assignment x (+ (+ (+ (+ (+ 1.e2 1.d0) .5) 1.) 1_8) 1.5_wp))"},
        {"x = (1.0, -2.0)", "(assignment x (complex 1.0 (- 2.0)))"},
        {"x = ((a))", "(assignment x (paren (paren a)))"},
        {"x = k_'abc'(2:3)", "(assignment x 'abc'_k((: 2 3)))"},
        {"x = 1_\"abc\"", "(assignment x \"abc\"_1)"},
        {"x = z'ff' + b\"01\"", "(assignment x (+ z'ff' b\"01\"))"},
        {"x = .true._1 .and. .false.", "(assignment x (.and. .true._1 .false.))"},
        {"x = a(1, 2:3, :, ::2, i:)", "(assignment x a(1 (: 2 3) (: _ _) (: _ _ 2) (: i _)))"},
        {"x = f(n=1, m=g())", "(assignment x f(n=1 m=g()))"},
        {"x = a%b(1)%c[2]%re", "(assignment x a%b(1)%c@(2)%re)"},
        {"x = (/ 1, 2 /) + [3, 4]", "(assignment x (+ [(1 2)] [(3 4)]))"},
        {"x = [integer(8) :: 1, (i, i = 1, 3)]", "(assignment x [<integer kind=8>(1 (do (i) i=1 3))])"},
        {"x = [character(len=3) ::]", "(assignment x [<character len=3>()])"},
        {"x = [t :: a]", "(assignment x [<type t>(a)])"},
        {"x = [(j, integer :: i = 1, 3)]", "(assignment x [((do (j) <integer>i=1 3))])"},
        {"x = t(4)(1, 2)", "(assignment x t(4)(1 2))"},
        {"x = a /= b .neqv. c >= d", "(assignment x (.neqv. (/= a b) (>= c d)))"},
    };
    CHECK(rows);
}

static void test_declarations(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"integer i", "(type declaration <integer> i)"},
        {"real(kind=8), dimension(3, *), intent(in out) :: a, b(0:)",
         "(type declaration <real kind=8> dimension(3,*) intent(inout) a b(0:))"},
        {"vector(real(8)) :: x", "(type declaration <vector<real kind=8>> x)"},
        {"vector (unsigned(2)) x", "(type declaration <vector<integer kind=2>> x)"},
        {"__vector_pair :: p", "(type declaration <vector> p)"},
        {"vector(integer) = 1", "(assignment vector(integer) 1)"},
        {"character*10 a, b*(*), c(3)*4", "(type declaration <character len=10> a b** c(3)*4)"},
        {"character*(*) a", "(type declaration <character len=*> a)"},
        {"character(len=:, kind=k), allocatable :: a", "(type declaration <character kind=k len=:> allocatable a)"},
        {"character(5, 1) a", "(type declaration <character kind=1 len=5> a)"},
        {"double precision x /1.0/, y(2) /2*0.0/", "(type declaration <double> x/(1.0)/ y(2)/((repeat 2 0.0))/)"},
        {"double complex z", "(type declaration <double-complex> z)"},
        {"complex*16 z", "(type declaration <complex *16> z)"},
        {"type(t(k=4, n=*)), pointer :: p => null()", "(type declaration <type t(k=4 n=*)> pointer p=>null())"},
        {"class(*), target :: c(..)", "(type declaration <class-star> target c(..))"},
        {"type(integer(4)) :: i", "(type declaration <integer kind=4> i)"},
        {"integer, codimension[2, *] :: c", "(type declaration <integer> codimension[2,*] c)"},
        {"integer :: c(3)[*] = 5", "(type declaration <integer> c(3)[*]=5)"},
        {"integer, parameter :: n = 3, m = n*2", "(type declaration <integer> parameter n=3 m=(* n 2))"},
        {"procedure(f), pointer, nopass :: p => null()", "(procedure declaration (f) pointer nopass p=>null())"},
        {"procedure(real(8)) :: g", "(procedure declaration <real kind=8> g)"},
        {"dimension a(3), b(2:4)", "(attribute dimension a(3) b(2:4))"},
        {"save", "(attribute save)"},
        {"save a, /c/", "(attribute save a /c/)"},
        {"public :: operator(+), assignment(=), a, read(formatted)",
         "(attribute public operator(+) assignment(=) a read(formatted))"},
        {"public operator(/), operator(//), operator(/=)", "(attribute public operator(/) operator(//) operator(/=))"},
        {"bind(c, name='x') :: /c/", "(attribute bind(c name='x') /c/)"},
        {"intent(out) a", "(attribute intent(out) a)"},
        {"parameter (n = 1, m = 2)", "(parameter items (n=1 m=2))"},
        {"implicit real(8) (a-h, o-z), integer(k)", "(implicit <real kind=8>a-h <real kind=8>o-z <integer>k-k)"},
        {"implicit none (type, external)", "(implicit none type external)"},
        {"use, intrinsic :: iso_c_binding, only: c_int, w => c_double",
         "(use iso_c_binding (intrinsic) only c_int w=>c_double)"},
        {"use m, operator(.a.) => operator(.b.)", "(use m operator(.a.)=>operator(.b.))"},
        {"import, only: a, b", "(import only a b)"},
        {"common x, /c/ y(3), z // w", "(common (// x) (/c/ y(3) z) (// w))"},
        {"namelist /a/ x, y /b/ z", "(namelist (/a/ x y) (/b/ z))"},
        {"equivalence (a, b(1)), (c, d)", "(equivalence (// (a b(1))) (// (c d)))"},
        {"data x, (a(i), i = 1, 3) /1, 3*-2.0/, y /z'f'/",
         "(data (x (do (a(i)) i=1 3))/(1 (repeat 3 (- 2.0)))/ (y)/(z'f')/)"},
        {"pointer (p, x(10)), (q, y)", "(pointer (p x(10)) (q y))"},
        {"10 format (1x, 5Hab)'c, 'it''s', f5.2/)", "10: (format (1x, 5Hab)'c, 'it''s', f5.2/))"},
        {"enum, bind(c)\nenumerator :: a = 1, b\nend enum", "(enum\n    (enumerator a=1 b))"},
        {"entry e(a, *) ", "(entry e ( a * ) )"},
    };
    CHECK(rows);
}

static void test_actions(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"call f", "(call f)"},
        {"call a%b(1)%c(x, *10, &20, %val(y))", "(call a%b(1)%c(x *10 *20 (%val y)))"},
        {"go to (1, 2, 3), i", "(computed go to i 1 2 3)"},
        {"goto i", "(assigned go to i)"},
        {"go to i, (1, 2)", "(assigned go to i 1 2)"},
        {"if (x) 1, 2, 3", "(arithmetic if x 1 2 3)"},
        {"assign 10 to i", "(assign 10 i)"},
        {"error stop 'a', quiet=.true.", "(error stop 'a' quiet=.true.)"},
        {"stop 1", "(stop 1)"},
        {"stop", "(stop)"},
        {"return 2", "(return 2)"},
        {"cycle outer", "(cycle outer)"},
        {"allocate (real(8) :: a(n, 0:m), b[*], stat=i)",
         "(allocate <real kind=8> (stat=i) items (a(n (: 0 m)) b@(*)))"},
        {"allocate (a, source=b, stat=i)", "(allocate (source=b stat=i) items (a))"},
        {"deallocate (a, b%c, errmsg=s)", "(deallocate (errmsg=s) items (a b%c))"},
        {"nullify (p, q%r)", "(nullify items (p q%r))"},
        {"read *, x, (a(i), i = 1, 3)", "(read (*) items (x (do (a(i)) i=1 3)))"},
        {"read (5, *, end=10) x", "(read (5 * end=10) items (x))"},
        {"read 10, x", "(read (10) items (x))"},
        {"read (x // y), z", "(read ((// x y)) items (z))"},
        {"write (unit=*, fmt='(a)', advance='no') x, y", "(write (unit=* fmt='(a)' advance='no') items (x y))"},
        {"write (*, *) (a, b), ((c(i, j), i = 1, 2), j = 1, 3)",
         "(write (* *) items ((complex a b) (do ((do (c(i j)) i=1 2)) j=1 3)))"},
        {"write (*, *) (a + b)*c", "(write (* *) items ((* (paren (+ a b)) c)))"},
        {"print '(a)', x", "(print ('(a)') items (x))"},
        {"open (newunit=u, file='f')", "(open (newunit=u file='f'))"},
        {"inquire (iolength=n) a, b", "(inquire (iolength=n) items (a b))"},
        {"rewind 10", "(rewind (10))"},
        {"rewind (10, iostat=i)", "(rewind (10 iostat=i))"},
        {"end file 7", "(endfile (7))"},
        {"sync images (*)", "(sync images items (*))"},
        {"event post (e[1], stat=i)", "(event post (stat=i) items (e@(1)))"},
        {"form team (1, t, new_index=2)", "(form team (new_index=2) items (1 t))"},
        {"fail image", "(fail image)"},
    };
    CHECK(rows);
}

static void test_constructs(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"if (a) then\nx = 1\nelse if (b) then\nx = 2\nelse\nx = 3\nend if",
         "(if construct\n    (when a\n      (assignment x 1))\n    (when b\n      (assignment x 2))\n    (else\n      "
         "(assignment x 3)))"},
        {"n: do\nexit n\nend do n", "(do n:\n    (exit n))"},
        {"do while (x < 1)\nend do", "(do while (< x 1))"},
        {"do 10 i = 1, 2\ndo 10 j = 1, 3\n10 x = 1", "(do 10+ i=1 2\n    (do 10 j=1 3\n      10: (assignment x 1)))"},
        {"do concurrent (integer(8) :: i = 1:n, j = m:1:-1, i /= j) local(x) local_init(y) shared(z, w) default(none)\n"
         "end do",
         "(do concurrent <integer kind=8> (i=1 n) (j=m 1 (- 1)) mask (/= i j) (local x) (local_init y) (shared z w) "
         "(default-none))"},
        {"do concurrent (i = 1:2) reduce(+: a, b) reduce(max: c) reduce(.and.: d)\nend do",
         "(do concurrent (i=1 2) (reduce + a b) (reduce max c) (reduce .and. d))"},
        {"select case (i)\ncase (1, 3:5, :0, 9:)\nx = 1\ncase default\nend select",
         "(select case i\n    (case(1 (: 3 5) (: _ 0) (: 9 _))\n      (assignment x 1))\n    (else))"},
        {"select type (a => b)\ntype is (integer(4))\nclass is (t)\nclass default\nend select",
         "(select type a=>b\n    (type-is<integer kind=4>)\n    (class-is<type t>)\n    (else))"},
        {"select rank (x)\nrank (1)\nrank (*)\nrank default\nend select",
         "(select rank x\n    (rank 1)\n    (rank *)\n    (else))"},
        {"where (m)\nx = 1\nelsewhere (n)\nx = 2\nelsewhere\nx = 3\nend where",
         "(where construct\n    (when m\n      (assignment x 1))\n    (when n\n      (assignment x 2))\n    (else\n    "
         "  "
         "(assignment x 3)))"},
        {"block\ninteger :: i\ni = 1\nend block", "(block\n    (type declaration <integer> i)\n    (assignment i 1))"},
        {"associate (a => b%c, d => e + 1)\nend associate", "(associate a=>b%c d=>(+ e 1))"},
        {"critical (stat=i)\nend critical", "(critical (stat=i))"},
        {"change team (t, a[*] => b, stat=i)\nend team", "(change team t a=>b (stat=i))"},
        {"interface operator(.x.)\nmodule procedure a, b\nend interface operator(.x.)",
         "(interface operator(.x.)\n    (module procedure a b))"},
        {"type, extends(p), abstract :: t\nprivate\ninteger :: i = 1\ncontains\nprocedure, nopass :: f => g\n"
         "generic :: operator(+) => f\nfinal :: h\nend type t",
         "(type definition t extends(p) abstract\n    (private)\n    (type declaration <integer> i=1)\n    contains\n  "
         "  "
         "(type-bound procedure nopass f=>g)\n    (generic operator(+) => f)\n    (final h))"},
    };
    CHECK(rows);
}

static void test_dec(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"a.b = c.d.e", "(assignment a%b c%d%e)"},
        {"x = a.eq.b", "(assignment x (== a b))"},
        {"structure /s/ f, g(3)\ninteger i\nunion\nmap\nreal x\nend map\nend union\nend structure",
         "(structure s f g(3)\n    (type declaration <integer> i)\n    (union\n      (map\n        (type declaration "
         "<real> "
         "x))))"},
        {"record /s/ r(3)", "(type declaration <record s> r(3))"},
        {"parameter n = 4, m = 5", "(parameter items (n=4 m=5))"},
        {"type *, x", "(type (*) items (x))"},
    };
    CHECK_DEC(rows);
}

static void test_units(void **state)
{
    (void)state;
    assert_tree(
        OFL_FORM_FREE,
        "module m\ncontains\nsubroutine a(x, *)\nend subroutine\npure integer function f(x) result(r) bind(c)\n"
        "end function f\nmodule procedure q\nend procedure\nend module m\nsubmodule (m:p) s\nend submodule\n"
        "block data\nend block data\nend\n",
        "(module m\ncontains\n  (subroutine a ( x * ))\n  (function f ( x ) <integer> result(r) pure bind(c))\n  "
        "(module procedure q))\n(submodule s of m:p)\n(block data -)\n(program -)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_reserved), cmocka_unit_test(test_expressions), cmocka_unit_test(test_declarations),
        cmocka_unit_test(test_actions),      cmocka_unit_test(test_constructs),  cmocka_unit_test(test_dec),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
